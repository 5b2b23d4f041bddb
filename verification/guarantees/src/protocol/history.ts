import fc from 'fast-check';

export const APPS = ['first', 'second'] as const;
export const HEART = 'read:health-data:heart';
export const SLEEP = 'read:health-data:sleep';
export const SCOPES = [HEART, SLEEP] as const;

export type App = (typeof APPS)[number];
export type Scope = (typeof SCOPES)[number];
export type Status = 'active' | 'suspended' | 'revoked';

const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * The positions at which a batch of requests can be stopped: in the gateway, and in consent before the insert, before the judgement,
 * and after it.
 */
export type Position = 'admitted' | 'inserting' | 'recorded' | 'judged';

/** The connection from the gateway to health-data, which carries reads, and that from health-data to consent, which carries records. */
export type Link = 'reads' | 'records';

export type Stop =
  /** The batch is held there for this many steps. */
  | { readonly at: Position; readonly steps: number }
  /** The database fails there. */
  | { readonly at: 'inserting' | 'recorded'; readonly fails: true }
  /** The connection of that link is lost while the batch is there; what runs behind them goes on. */
  | { readonly at: 'inserting' | 'recorded' | 'judged'; readonly loses: Link }
  /** One verdict is missing in the answer to health-data. */
  | { readonly at: 'answered'; readonly lacks: 'verdict' };

/** A fault of one call from authorization to consent. */
export type NetworkFault = 'none' | 'call-lost' | 'answer-lost' | 'doubled';

/** The remaining part of a grant: one scope, a shorter time, or the data from a later day. */
export type Narrowing =
  | { readonly keep: Scope }
  | { readonly lifeMs: number }
  | { readonly dataFrom: string };

/** An action of a person or app, or an event of the system. `which` counts from the newest. */
export type Action =
  | {
      readonly do: 'request';
      readonly which: number;
      readonly scope: Scope;
      /** Whether to use the facts of the first introspection of the token, however old they are. */
      readonly remembered: boolean;
      readonly stop: Stop | null;
    }
  /** Every token with every scope, with cached facts, in one batch. Scopes that the token lacks are refused before the record. */
  | { readonly do: 'request-all'; readonly stop: Stop | null }
  | {
      readonly do: 'approve';
      readonly app: App;
      readonly asked: readonly Scope[];
      readonly approved: readonly Scope[];
      readonly dataFrom: string;
    }
  | { readonly do: 'narrow'; readonly which: number; readonly to: Narrowing }
  | { readonly do: 'revoke-grant'; readonly which: number }
  /** By its app. */
  | { readonly do: 'end-grant'; readonly which: number }
  | { readonly do: 'revoke-token'; readonly which: number }
  | { readonly do: 'revoke-family'; readonly which: number }
  | { readonly do: 'refresh'; readonly which: number }
  /** Presents a refresh token whose successor was used, or a code that was exchanged; both end the family. */
  | { readonly do: 'reuse'; readonly which: number }
  | { readonly do: 'replay'; readonly which: number }
  | { readonly do: 'revoke-all' }
  /** The statuses in sequence. */
  | { readonly do: 'set-status'; readonly app: App; readonly statuses: readonly Status[] }
  /** Moves the clocks of all services, but not those of the databases. */
  | { readonly do: 'set-clock'; readonly aheadMs: number }
  | { readonly do: 'wait'; readonly ms: number };

export type ActionOf<Kind extends Action['do']> = Extract<Action, { do: Kind }>;

export interface Step {
  readonly action: Action;
  /** Whether it starts while the previous step may still be running. */
  readonly overlaps?: boolean;
  /** Faults of the first calls from authorization to consent. */
  readonly network?: readonly NetworkFault[];
}

/** The steps after a person has approved the first app with both scopes. */
export type History = readonly Step[];

const which = fc.constantFrom(0, 0, 0, 1, 2, 3);
const app = fc.constantFrom(APPS[0], APPS[0], APPS[0], APPS[1]);
const scope = fc.constantFrom(...SCOPES);
const scopes = fc.subarray([...SCOPES], { minLength: 1 });
const dataFrom = fc.constantFrom('2020-01-01', '2021-01-01');

const stop: fc.Arbitrary<Stop | null> = fc.oneof(
  fc.constant(null),
  fc.record({
    at: fc.constantFrom<Position[]>('admitted', 'inserting', 'recorded', 'judged'),
    steps: fc.integer({ min: 1, max: 3 }),
  }),
  fc.record({ at: fc.constantFrom('inserting', 'recorded'), fails: fc.constant(true as const) }),
  fc.record({
    at: fc.constantFrom('inserting', 'recorded', 'judged'),
    loses: fc.constantFrom('reads', 'records'),
  }),
  fc.constant({ at: 'answered', lacks: 'verdict' }),
);

const request: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('request'), which, scope, remembered: fc.boolean(), stop }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('request-all'), stop }) },
);

const approval: fc.Arbitrary<Action> = fc
  .tuple(app, scopes, scopes, fc.oneof(fc.constant(''), fc.constant(''), dataFrom))
  .map(([of, asked, chosen, day]) => {
    const both = asked.filter((one) => chosen.includes(one));
    return { do: 'approve', app: of, asked, approved: both.length > 0 ? both : asked, dataFrom: day };
  });

const statuses = fc.constantFrom<Status[]>(
  ['active'],
  ['suspended'],
  ['revoked'],
  ['suspended', 'active'],
  ['revoked', 'active'],
);

const others: readonly fc.Arbitrary<Action>[] = [
  approval,
  ...[
    fc.record({ keep: scope }),
    fc.record({ lifeMs: fc.constantFrom(10 * SECOND, 10 * MINUTE) }),
    fc.record({ dataFrom }),
  ].map((to) => fc.record({ do: fc.constant('narrow' as const), which, to })),
  ...(
    [
      'revoke-grant',
      'end-grant',
      'revoke-token',
      'revoke-family',
      'refresh',
      'refresh',
      'reuse',
      'replay',
    ] as const
  ).map((kind) => fc.record({ do: fc.constant(kind), which })),
  fc.constant({ do: 'revoke-all' }),
  fc.record({ do: fc.constant('set-status'), app, statuses }),
  fc.record({ do: fc.constant('set-clock'), aheadMs: fc.constantFrom(0, -10 * MINUTE, 2 * HOUR) }),
  fc.record({ do: fc.constant('wait'), ms: fc.constantFrom(30 * SECOND, 61 * SECOND, 11 * MINUTE) }),
  fc.record({ do: fc.constant('wait'), ms: fc.constantFrom(58 * MINUTE, 65 * MINUTE, 8 * DAY, 40 * DAY) }),
];

const fault = fc.constantFrom<NetworkFault[]>('none', 'none', 'call-lost', 'answer-lost', 'doubled');
const network = fc.oneof(fc.constant([]), fc.array(fault, { minLength: 1, maxLength: 3 }));

/** Requests mixed with a few kinds of other actions, which interact more often than if all kinds were used. */
export const histories: fc.Arbitrary<History> = fc
  .subarray([...others], { minLength: 2, maxLength: 7 })
  .chain((kinds) => {
    const action = fc.oneof(request, fc.oneof(...kinds), fc.oneof(...kinds));
    const overlaps = fc.constantFrom(false, false, true);
    return fc.array(fc.record({ action, overlaps, network }), { minLength: 1, maxLength: 16, size: 'max' });
  });
