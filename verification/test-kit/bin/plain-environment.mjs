import { constants, createContext } from 'node:vm';
import { TestEnvironment } from 'jest-environment-node';

// Objects that tests share with Node's own modules, such as Buffer, have the prototypes of these.
const SHARED_WITH_NODE = new Set(['ArrayBuffer', 'Uint8Array']);

/**
 * Jest's environment for Node with an ordinary global object. In Jest's own, every use of a global such as `Math` passes through an
 * interceptor and a proxy, which makes code that computes several times slower than outside of tests.
 */
// biome-ignore lint/style/noDefaultExport: Jest instantiates the default export
export default class PlainEnvironment extends TestEnvironment {
  constructor(config, context) {
    super(config, context);
    const plain = createContext(constants.DONT_CONTEXTIFY);
    copyGlobals(this.global, plain);
    plain.global = plain;
    plain.Error.stackTraceLimit = this.global.Error.stackTraceLimit;
    this.global = plain;
    this.context = plain;
    // Fake timers replace those of the global object that they were created for.
    const FakeTimers = this.fakeTimersModern.constructor;
    this.fakeTimersModern = new FakeTimers({ config: config.projectConfig, global: plain });
  }

  async teardown() {
    await this.global.sharedByTests?.disposeAsync();
    await super.teardown();
  }
}

/** Defines the globals that a new context does not have. Those that are loaded on first use stay so. */
function copyGlobals(from, to) {
  for (const key of Reflect.ownKeys(from)) {
    if (Object.hasOwn(to, key) && !SHARED_WITH_NODE.has(key)) continue;
    const descriptor = Object.getOwnPropertyDescriptor(from, key);
    Object.defineProperty(to, key, 'value' in descriptor ? descriptor : toLazy(to, key, descriptor));
  }
}

function toLazy(target, key, { configurable, enumerable, get }) {
  const settle = (value) =>
    Object.defineProperty(target, key, { configurable: true, enumerable, writable: true, value });
  return {
    configurable,
    enumerable,
    get: () => {
      const value = get.call(globalThis);
      settle(value);
      return value;
    },
    set: settle,
  };
}
