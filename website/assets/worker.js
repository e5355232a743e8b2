// A page opened from a disk may start no worker, and the search is one: there it runs in a hidden frame instead.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      this.waiting = [];
      this.frame = Object.assign(document.createElement("iframe"), { hidden: true });
      document.body.append(this.frame);
      const inside = this.frame.contentWindow;
      inside.postMessage = (data) => this.later(data, (event) => {
        this.dispatchEvent(event);
        if (this.onmessage) this.onmessage(event);
      });
      const script = this.frame.contentDocument.createElement("script");
      script.src = new URL(address, document.baseURI).href;
      script.onload = () => {
        const held = this.waiting;
        this.waiting = null;
        held.forEach((data) => this.postMessage(data));
      };
      this.frame.contentDocument.head.append(script);
    }
    postMessage(data) {
      if (this.waiting) this.waiting.push(data);
      else this.later(data, (event) => this.frame.contentWindow?.dispatchEvent(event));
    }
    later(data, tell) {
      const copy = structuredClone(data); // as between threads: never at once, never the same object
      setTimeout(() => tell(new MessageEvent("message", { data: copy })));
    }
    terminate() {
      this.frame.remove();
    }
  };
}
