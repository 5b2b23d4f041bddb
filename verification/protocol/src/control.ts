import type { BrokenVariant, Surroundings } from './broken-variant.ts';
import { Network, type Stopped } from './disturbances.ts';

/** Controls of a history over the services. */
export interface Control extends Surroundings {
  readonly network: Network;
  /** Null for the unmodified system. */
  variant: BrokenVariant | null;
  /** The one stopped batch, on the second path. */
  stopped: Stopped | null;
  /** When the insert of each record was sent to the database, by the record's id in hexadecimal digits. */
  readonly insertedAt: Map<string, number>;
  /** A strictly increasing number, which orders events. */
  tick(): number;
}

export function createControl(databases: Surroundings['databases']): Control {
  let ticks = 0;
  return {
    databases,
    clock: {
      aheadMs: 0,
      now() {
        return new Date(Date.now() + this.aheadMs);
      },
    },
    network: new Network(),
    variant: null,
    stopped: null,
    insertedAt: new Map(),
    tick() {
      ticks += 1;
      return ticks;
    },
  };
}

/** The port, or its modification by the current variant. */
export function vary<Port extends object>(
  control: Control,
  real: Port,
  make: (variant: BrokenVariant) => Partial<Port> | undefined,
): Port {
  let variant: BrokenVariant | null = null;
  let present = real;
  return new Proxy(real, {
    get(_target, name) {
      if (control.variant !== variant) {
        variant = control.variant;
        present = { ...real, ...(variant && make(variant)) };
      }
      return Reflect.get(present, name);
    },
  });
}
