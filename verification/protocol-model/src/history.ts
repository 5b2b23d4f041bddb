import fc from 'fast-check';
import type { AppStatus } from './ledger.ts';
import type { ClockFault } from './world.ts';

export const APPS = ['app1', 'app2'] as const;
export const SCOPES = ['heart', 'profile'] as const;
export const GATEWAYS = ['gateway1', 'gateway2'] as const;
const PROCESSES = [...GATEWAYS, 'authorization', 'consent', 'health-data'] as const;

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Something that somebody does or that befalls the system. `which` picks among what there is by then, from the newest. */
export type Action =
  | { readonly do: 'request'; readonly which: number; readonly gateway: number; readonly scope: string }
  | { readonly do: 'approve'; readonly app: string; readonly asked: string[]; readonly approved: string[] }
  | { readonly do: 'narrow'; readonly which: number; readonly keep: string }
  | { readonly do: 'shorten'; readonly which: number; readonly lifeMs: number }
  | { readonly do: 'revoke-grant' | 'revoke-token' | 'revoke-family'; readonly which: number }
  | { readonly do: 'refresh' | 'reuse' | 'replay'; readonly which: number }
  | { readonly do: 'revoke-all' | 'fail-over' }
  /** One after the other. */
  | { readonly do: 'set-status'; readonly app: string; readonly statuses: readonly AppStatus[] }
  | { readonly do: 'set-clock'; readonly process: string; readonly aheadMs: number }
  | { readonly do: 'crash'; readonly process: string }
  /** Long enough for consent to prune its ledger meanwhile. */
  | { readonly do: 'wait'; readonly ms: number };

export interface Step {
  readonly action: Action;
  /** How many steps of whatever is under way come before the next; many let it settle. */
  readonly pause: number;
}

/** Everything that a run follows from. */
export interface History {
  /** Decides what goes on when, and what the network does. */
  readonly seed: number;
  readonly clocks: Readonly<Record<string, ClockFault>>;
  readonly steps: readonly Step[];
}

const which = fc.constantFrom(0, 0, 0, 1, 2, 3);
const scopes = fc.subarray([...SCOPES], { minLength: 1 });
const app = fc.constantFrom(APPS[0], APPS[0], APPS[0], APPS[1]);

const request: fc.Arbitrary<Action> = fc.record({
  do: fc.constant('request' as const),
  which,
  gateway: fc.constantFrom(0, 0, 1),
  scope: fc.constantFrom(...SCOPES),
});

const approval: fc.Arbitrary<Action> = fc.tuple(app, scopes, scopes).map(([of, asked, chosen]) => {
  const both = asked.filter((scope) => chosen.includes(scope));
  return { do: 'approve', app: of, asked, approved: both.length > 0 ? both : asked };
});

const narrowing: fc.Arbitrary<Action> = fc.record({
  do: fc.constant('narrow' as const),
  which,
  keep: fc.constantFrom(...SCOPES),
});

const shortening: fc.Arbitrary<Action> = fc.record({
  do: fc.constant('shorten' as const),
  which,
  lifeMs: fc.constantFrom(SECOND, 10 * SECOND, 10 * MINUTE),
});

const statusChange: fc.Arbitrary<Action> = fc.record({
  do: fc.constant('set-status' as const),
  app,
  statuses: fc.constantFrom<AppStatus[]>(
    ['active'],
    ['suspended'],
    ['revoked'],
    ['suspended', 'active'],
    ['revoked', 'active'],
  ),
});

const crash: fc.Arbitrary<Action> = fc.record({
  do: fc.constant('crash' as const),
  process: fc.constantFrom(...PROCESSES, 'authorization', 'consent', 'consent'),
});

const clockStep: fc.Arbitrary<Action> = fc.record({
  do: fc.constant('set-clock' as const),
  process: fc.constantFrom('authorization', ...GATEWAYS),
  aheadMs: fc.constantFrom(0, -10 * MINUTE, 2 * HOUR),
});

const shortWait: fc.Arbitrary<Action> = fc.record({
  do: fc.constant('wait' as const),
  ms: fc.constantFrom(SECOND, 30 * SECOND, 61 * SECOND),
});

const longWait: fc.Arbitrary<Action> = fc.record({
  do: fc.constant('wait' as const),
  ms: fc.constantFrom(10 * MINUTE, 58 * MINUTE, 65 * MINUTE),
});

const veryLongWait: fc.Arbitrary<Action> = fc.record({
  do: fc.constant('wait' as const),
  ms: fc.constantFrom(8 * DAY, 40 * DAY),
});

const OTHERS: readonly fc.Arbitrary<Action>[] = [
  approval,
  narrowing,
  shortening,
  of('revoke-grant'),
  of('revoke-token'),
  of('revoke-family'),
  of('refresh'),
  of('refresh', 'reuse'),
  of('replay'),
  statusChange,
  crash,
  clockStep,
  shortWait,
  longWait,
  veryLongWait,
  fc.constant({ do: 'revoke-all' }),
  fc.constant({ do: 'fail-over' }),
];

function of(...kinds: Extract<Action, { which: number }>['do'][]): fc.Arbitrary<Action> {
  return fc.record({ do: fc.constantFrom(...kinds), which }) as fc.Arbitrary<Action>;
}

/** Requests among a few kinds of other things: so these meet each other more often than if there were everything. */
const steps: fc.Arbitrary<readonly Step[]> = fc
  .subarray([...OTHERS], { minLength: 2, maxLength: 7 })
  .chain((others) => {
    const action = fc.oneof(request, fc.oneof(...others), fc.oneof(...others));
    const pause = fc.oneof(fc.constant(400), fc.nat({ max: 12 }), fc.nat({ max: 40 }));
    return fc.array(fc.record({ action, pause }), { minLength: 1, maxLength: 20, size: 'max' });
  });

/** Right, some minutes off, or slow up to standing still. */
const clock: fc.Arbitrary<ClockFault> = fc.record({
  aheadMs: fc.constantFrom(0, 0, -10 * MINUTE, 10 * MINUTE),
  rate: fc.constantFrom(1, 1, 0.5, 0),
});
const rightRate = clock.map(({ aheadMs }) => ({ aheadMs, rate: 1 }));

/** Any history: mostly short bursts of things that overlap. */
export const histories: fc.Arbitrary<History> = fc.record({
  seed: fc.noShrink(fc.nat()),
  clocks: fc.record({ gateway1: clock, gateway2: clock, authorization: rightRate, database: rightRate }),
  steps,
});
