import type {
  AccessFacts,
  AccessRecorded,
  AccessRestored,
  Ending,
  EndingAcknowledged,
  RequestAnswered,
  RequestStarted,
  Restorable,
  TraceEvent,
} from './trace.ts';

/** The promises that a trace can break. */
export type Rule =
  /** Data for a request that started after the acknowledged end of its access. */
  | 'data-after-revocation'
  /** Data whose record is missing, was written later, describes another access, or counts as refused. */
  | 'data-without-record'
  /** Data whose record was committed after the acknowledged end of its access. */
  | 'record-after-revocation'
  /** Data under a grant that was observed to be over before the request started. */
  | 'ended-grant-revived'
  /** Data for a token that had expired, by the database's clock, when the access was recorded. */
  | 'data-by-expired-token'
  /** A refusal states that something ended the access, but nobody had requested that. */
  | 'refused-without-cause';

export interface Violation {
  readonly rule: Rule;
  readonly request: string;
  /** An explanation: the events that contradict each other. */
  readonly because: string;
}

export interface Judgement {
  readonly violations: readonly Violation[];
  readonly requests: number;
  /** Number of responses with data. */
  readonly released: number;
  /** Number of requests that started after the acknowledged end of their access. */
  readonly startedAfterRevocation: number;
}

/** Judges a complete trace. Throws when the trace is inconsistent: a response without its request, or a request id twice. */
export function judgeTrace(events: Iterable<TraceEvent>): Judgement {
  const trace = indexTrace(events);
  const violations: Violation[] = [];
  let released = 0;
  let startedAfterRevocation = 0;
  for (const [request, { started, answered, records }] of trace.requests) {
    if (started === null) throw new Error(`request ${request} was answered and never started`);
    const access: Access = { ...started.access, dataFrom: answered?.dataFrom };
    const until = answered?.at ?? Number.POSITIVE_INFINITY;
    const revocation = trace.findRevocation(access, started.at, until);
    if (revocation !== null) startedAfterRevocation += 1;
    if (answered === null) continue;
    if (answered.data) released += 1;
    const found = answered.data
      ? judgeRelease({ trace, started, access, answered, records, revocation })
      : judgeRefusal(trace, access, answered);
    violations.push(...found.map(({ rule, because }) => ({ rule, request, because })));
  }
  return { violations, requests: trace.requests.size, released, startedAfterRevocation };
}

/** The facts of a request, and the first day of the data in its response. */
interface Access extends AccessFacts {
  readonly dataFrom: string | undefined;
}

type Found = Omit<Violation, 'request'>[];

function judgeRefusal(
  trace: Trace,
  access: Access,
  { at, reason, saysEnded = false }: RequestAnswered,
): Found {
  if (!saysEnded || trace.isAsked(access, at)) return [];
  return [
    { rule: 'refused-without-cause', because: `refused at ${at} (${reason}); nobody had requested its end` },
  ];
}

interface Release {
  readonly trace: Trace;
  readonly started: RequestStarted;
  readonly access: Access;
  readonly answered: RequestAnswered;
  readonly records: readonly AccessRecorded[];
  /** Acknowledged before the request started. */
  readonly revocation: EndingAcknowledged | null;
}

function judgeRelease({ trace, started, access, answered, records, revocation }: Release): Found {
  const violations: Found = [];
  if (revocation !== null) {
    const because = `started at ${started.at}, after ${describe(revocation)}; data at ${answered.at}`;
    violations.push({ rule: 'data-after-revocation', because });
  }
  const endedAt = trace.endedGrants.get(access.grant);
  if (endedAt !== undefined && endedAt < started.at) {
    const because = `grant ${access.grant} was over at ${endedAt}, and gave data to a request of ${started.at}`;
    violations.push({ rule: 'ended-grant-revived', because });
  }
  const [record] = records
    .filter((candidate) => !candidate.refused && candidate.at <= answered.at && isOf(candidate, access))
    .sort((one, other) => one.at - other.at);
  if (record === undefined) {
    const because = `data at ${answered.at}; ${records.length} records of it, none fits`;
    return [...violations, { rule: 'data-without-record', because }];
  }
  const overtaken = trace.findRevocation(access, record.at, answered.at);
  if (overtaken !== null && revocation === null) {
    const because = `recorded at ${record.at}, after ${describe(overtaken)}; data at ${answered.at}`;
    violations.push({ rule: 'record-after-revocation', because });
  }
  const { databaseTime } = record;
  if (databaseTime !== null && access.expiresAt !== null && databaseTime >= access.expiresAt) {
    const because = `token ${access.token} ended at ${access.expiresAt}, recorded at ${databaseTime} (database's clock)`;
    violations.push({ rule: 'data-by-expired-token', because });
  }
  return violations;
}

function isOf(record: AccessRecorded, { app, grant, scope }: AccessFacts): boolean {
  return record.app === app && record.grant === grant && record.scope === scope;
}

function describe({ at, ended }: EndingAcknowledged): string {
  return `${JSON.stringify(ended)} was acknowledged at ${at}`;
}

interface Exchange {
  started: RequestStarted | null;
  answered: RequestAnswered | null;
  readonly records: AccessRecorded[];
}

interface Trace {
  readonly requests: ReadonlyMap<string, Exchange>;
  /** When each grant was first observed to be over. */
  readonly endedGrants: ReadonlyMap<string, number>;
  /** An ending of this access that was acknowledged before `at` and cannot have been undone before `until`. */
  findRevocation(access: Access, at: number, until: number): EndingAcknowledged | null;
  /** Whether anybody requested before `at` to end something that this access depends on, with any outcome. */
  isAsked(access: Access, at: number): boolean;
}

function indexTrace(events: Iterable<TraceEvent>): Trace {
  const requests = new Map<string, Exchange>();
  const endedGrants = new Map<string, number>();
  const asked = new Map<string, number>();
  const endings = new Map<string, EndingAcknowledged[]>();
  const restorations = new Map<string, AccessRestored[]>();
  for (const event of events) {
    if (event.kind === 'acknowledged') push(endings, keyOf(event.ended), event);
    else if (event.kind === 'restored') push(restorations, keyOf(event.restores), event);
    else if (event.kind === 'grant-ended') keepFirst(endedGrants, event.grant, event.at);
    else if (event.kind === 'asked') keepFirst(asked, keyOf(event.ended), event.at);
    else addToExchange(requests, event);
  }
  const isUndone = ({ askedAt }: EndingAcknowledged, key: string, until: number) =>
    restorations
      .get(key)
      ?.some(({ at, answeredAt }) => at < until && (answeredAt === null || answeredAt > askedAt));
  return {
    requests,
    endedGrants,
    findRevocation(access, at, until) {
      for (const key of keysOf(access)) {
        const ending = endings
          .get(key)
          ?.find((event) => event.at < at && isAbout(event.ended, access) && !isUndone(event, key, until));
        if (ending !== undefined) return ending;
      }
      return null;
    },
    isAsked: (access, at) => keysOf(access).some((key) => (asked.get(key) ?? at) < at),
  };
}

function keepFirst(times: Map<string, number>, key: string, at: number): void {
  times.set(key, Math.min(at, times.get(key) ?? at));
}

function addToExchange(
  requests: Map<string, Exchange>,
  event: RequestStarted | RequestAnswered | AccessRecorded,
): void {
  const exchange = requests.get(event.request) ?? { started: null, answered: null, records: [] };
  requests.set(event.request, exchange);
  if (event.kind === 'recorded') exchange.records.push(event);
  else if (event.kind === 'answered') {
    if (exchange.answered !== null) throw new Error(`request ${event.request} was answered twice`);
    exchange.answered = event;
  } else {
    if (exchange.started !== null) throw new Error(`request ${event.request} started twice`);
    exchange.started = event;
  }
}

function push<Value>(lists: Map<string, Value[]>, key: string, value: Value): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

function keyOf(ending: Ending | Restorable): string {
  switch (ending.kind) {
    case 'token':
      return `token ${ending.token}`;
    case 'family':
      return `family ${ending.family}`;
    case 'grant':
      return `grant ${ending.grant}`;
    case 'app-life':
      return `app-life ${ending.app}`;
    case 'app':
      return `app ${ending.app}`;
    case 'scope':
      return `scope ${ending.user} ${ending.app} ${ending.scope}`;
    case 'days':
      return `days ${ending.user} ${ending.app}`;
  }
}

/** Everything that can end an access. */
function keysOf({ token, family, grant, app, user, scope }: AccessFacts): string[] {
  return [
    `token ${token}`,
    `family ${family}`,
    `grant ${grant}`,
    `app-life ${app}`,
    `app ${app}`,
    ...scope.split(' ').map((one) => `scope ${user} ${app} ${one}`),
    `days ${user} ${app}`,
  ];
}

function isAbout(ending: Ending, { epoch, dataFrom }: Access): boolean {
  if (ending.kind === 'days') return dataFrom !== undefined && dataFrom < ending.before;
  return ending.kind !== 'app-life' || epoch < ending.epoch;
}
