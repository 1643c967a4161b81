// SPDX-License-Identifier: BSD-3-Clause
// Browsers start no worker for a page that is opened from a folder (file:). The search of the site is one, so there its script runs in a
// hidden frame that takes the part of the worker.
(() => {
  "use strict";
  if (location.protocol !== "file:") return;

  class FrameWorker extends EventTarget {
    constructor(url) {
      super();
      this.onmessage = null;
      this.onerror = null;
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.title = "search";
      document.body.appendChild(frame);
      const inside = frame.contentWindow;
      const page = frame.contentDocument;
      const base = new URL(url, document.baseURI);
      const load = (address) => new Promise((resolve, reject) => {
        const script = page.createElement("script");
        script.src = new URL(address, base).href;
        script.onload = resolve;
        script.onerror = reject;
        page.body.appendChild(script);
      });
      // What the worker sends comes here, and never to the frame's own listeners.
      inside.postMessage = (data) => {
        const event = new MessageEvent("message", {data});
        this.dispatchEvent(event);
        if (this.onmessage) this.onmessage(event);
      };
      inside.importScripts = (...addresses) => addresses.reduce((before, address) => before.then(() => load(address)), Promise.resolve());
      this.frame = frame;
      this.ready = load(base).catch((error) => {
        if (this.onerror) this.onerror(error);
        else console.error(`${base} could not be loaded`);
      });
    }

    postMessage(data) {
      this.ready.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", {data})));
    }

    terminate() {
      this.frame.remove();
    }
  }

  window.Worker = FrameWorker;
  window.IFrameWorker = FrameWorker;  // by this name the script knows that it runs in a frame
})();
