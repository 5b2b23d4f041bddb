import { GlobalWindow } from 'happy-dom';

export const ORIGIN = 'https://health.example';

/** The browser's way of leaving a page: assigning an address, replacing this one by it, reloading, or closing the tab. */
export interface Leaving {
  readonly how: 'assign' | 'replace' | 'reload' | 'close';
  readonly url: string;
}

/** What Node has, too, and pages take from the browser. Everything else that Node has stays. */
const REPLACED = [
  'BroadcastChannel',
  'CustomEvent',
  'Event',
  'EventTarget',
  'localStorage',
  'navigator',
  'sessionStorage',
];
/** With these, `fetch` of Node resolves paths. */
const FETCH_ORIGIN = Symbol.for('undici.globalOrigin.1');

const TIMERS = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] as const;

/**
 * The only window of this process. Libraries keep what they found when they were loaded, and all test files share them. Its page is
 * never left: what would leave it is noted.
 */
const view = new GlobalWindow({
  url: ORIGIN,
  settings: { navigation: { disableMainFrameNavigation: true, disableChildFrameNavigation: true } },
});
let leavings: Leaving[] = [];
let told: unknown[] = [];
const listening = new Set<TabChannel>();

/** Between the tabs of the browser; the others are the test. */
class TabChannel {
  onmessage: ((event: { readonly data: unknown }) => void) | null = null;

  constructor() {
    listening.add(this);
  }

  postMessage(data: unknown): void {
    told.push(data);
  }
}

/** Tells the page what another tab says. */
export function tellPage(data: unknown): void {
  for (const channel of listening) channel.onmessage?.({ data });
}

for (const how of ['assign', 'replace', 'reload'] as const) {
  const value = (url: string | URL = view.location.href) => void leavings.push({ how, url: String(url) });
  Object.defineProperty(view.location, how, { value });
}
for (const name of TIMERS) {
  // At the time of the call, because tests replace Node's timers.
  const value = (...args: never[]) => (globalThis[name] as (...args: never[]) => unknown)(...args);
  Object.defineProperty(view, name, { value });
}
Object.assign(view, {
  requestAnimationFrame: (draw: (at: number) => void) => setTimeout(() => draw(performance.now()), 16),
  cancelAnimationFrame: (frame: never) => clearTimeout(frame),
  scrollTo: () => undefined,
  close: () => void leavings.push({ how: 'close', url: view.location.href }),
  BroadcastChannel: TabChannel,
});

/** As browsers do with a modal dialog: it gives the focus back, and Escape asks to close it. */
const openers = new WeakMap<HTMLDialogElement, Element | null>();
Object.assign(view.HTMLDialogElement.prototype, {
  showModal(this: HTMLDialogElement) {
    openers.set(this, document.activeElement);
    this.open = true;
  },
  close(this: HTMLDialogElement) {
    this.open = false;
    (openers.get(this) as HTMLElement | null)?.focus();
  },
});
view.addEventListener('keydown', (event) => {
  if ((event as unknown as KeyboardEvent).key !== 'Escape') return;
  document.querySelector('dialog[open]')?.dispatchEvent(new Event('cancel', { cancelable: true }));
});

const installed = new Map<PropertyKey, PropertyDescriptor | undefined>();

function install(name: PropertyKey, descriptor: PropertyDescriptor): void {
  installed.set(name, Object.getOwnPropertyDescriptor(globalThis, name));
  Object.defineProperty(globalThis, name, { ...descriptor, configurable: true });
}

/** Makes the window's properties global, as they are for scripts of a page. */
export function installDom(): void {
  if (installed.size > 0) return;
  const names = new Set<string>(REPLACED);
  for (let owner: object = view; owner !== Object.prototype; owner = Object.getPrototypeOf(owner)) {
    for (const name of Object.getOwnPropertyNames(owner)) if (!(name in globalThis)) names.add(name);
  }
  for (const name of names) {
    install(name, {
      get: () => Reflect.get(view, name, view),
      set: (value) => Reflect.set(view, name, value, view),
    });
  }
  install(FETCH_ORIGIN, { value: new URL(ORIGIN), writable: true });
  // Testing Library sets it while it acts. Otherwise React would demand that every answer and script arrive during an act.
  install('IS_REACT_ACT_ENVIRONMENT', { value: false, writable: true });
}

/** Takes everything away again, so that the next test file of this process finds plain Node. */
export function removeDom(): void {
  for (const [name, descriptor] of installed) {
    if (descriptor === undefined) Reflect.deleteProperty(globalThis, name);
    else Object.defineProperty(globalThis, name, descriptor);
  }
  installed.clear();
}

/**
 * Opens an empty page at a path, in a new browser that prefers these languages, with what the gateway puts into the document, by name.
 * Returns the navigations away from it, and what it tells other tabs.
 */
export function openEmptyPage(
  path: string,
  languages: readonly string[],
  contents: Readonly<Record<string, string>>,
) {
  leavings = [];
  told = [];
  view.history.replaceState(null, '', path);
  for (const storage of [view.localStorage, view.sessionStorage]) storage.clear();
  view.document.title = '';
  view.document.head.innerHTML = '';
  for (const [name, content] of Object.entries(contents)) {
    const meta = view.document.createElement('meta');
    Object.assign(meta, { name, content });
    view.document.head.append(meta);
  }
  view.document.body.innerHTML = '';
  Object.defineProperty(view.navigator, 'languages', { value: languages, configurable: true });
  return { leavings, told };
}
