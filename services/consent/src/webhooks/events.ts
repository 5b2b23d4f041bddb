import { type Category, isCategory } from '@phds/catalog/categories';
import { scopeOfCategory } from '@phds/catalog/endpoints';
import type { HostEvent } from '@phds/catalog/webhooks';
import {
  type DataChange as DataChangeMessage,
  EventService,
} from '@phds/contracts/phds/consent/v1/events_pb';
import { invalidRequest } from '@phds/service-kit/errors';
import { parseUserId } from '@phds/service-kit/ids';
import { queryRows, readStatement, runStatement, transact } from '@phds/service-kit/postgres/sql';
import { implement } from '@phds/service-kit/rpc/service';
import type pg from 'pg';
import { parseMoment } from '../parameters.ts';
import type { GrantTerms } from '../terms.ts';
import type { EventContent } from './event.ts';

export function toTermsContent({ scopes, expiresAt, dataFrom }: GrantTerms) {
  return { scopes, expiresAt: expiresAt.toISOString(), dataFrom };
}

const NARROW = readStatement(new URL('../store/sql/narrow-grant.sql', import.meta.url));
const ANNOUNCE_APPROVAL = readStatement(new URL('../store/sql/announce-approval.sql', import.meta.url));

/** Replaces the terms of a locked grant by narrower ones, and adds the events: for the app, and for the deployment unless null. */
export async function writeNarrowed(
  tx: pg.ClientBase,
  grantId: string,
  terms: GrantTerms,
  hostEvent: HostEvent | null,
): Promise<void> {
  const { scopes, expiresAt, dataFrom } = terms;
  await runStatement(tx, NARROW, grantId, scopes, expiresAt, dataFrom, hostEvent, toTermsContent(terms));
}

/** Adds the event of an approval for the deployment, in the transaction of the approval. */
export async function announceApproval(
  tx: pg.ClientBase,
  grantId: string,
  hostEvent: HostEvent,
  content: EventContent,
): Promise<void> {
  await runStatement(tx, ANNOUNCE_APPROVAL, grantId, hostEvent, content);
}

/** A change of a person's readings of one category. */
interface DataChange {
  readonly userId: string;
  readonly category: Category;
  readonly at: Date;
  /** The latest time of the changed readings, new or removed. */
  readonly latestReadingAt: Date;
}

/** How long a `data.updated` collects changes, if its spacing is not shorter. */
const DATA_DELAY_MS = 10_000;

const LARGEST_REPORT = 1_000;

/** phds.consent.v1.EventService. `spacingMs` is the shortest time from one `data.updated` of a grant to the next. */
export function createEventService(pool: pg.Pool, spacingMs: number) {
  return implement(
    EventService,
    {
      async reportDataChanges(request) {
        if (request.changes.length > LARGEST_REPORT) {
          throw invalidRequest('changes', `at most ${LARGEST_REPORT} at once`);
        }
        await addDataChanges(pool, request.changes.map(parseChange), spacingMs);
        return {};
      },
    },
    { reportDataChanges: ['health-data'] },
  );
}

function parseChange({ userId, category, at, latestReadingAt }: DataChangeMessage): DataChange {
  if (!isCategory(category)) throw invalidRequest('category', 'is not a category');
  return {
    userId: parseUserId(userId),
    category,
    at: parseMoment('at', at),
    latestReadingAt: parseMoment('latestReadingAt', latestReadingAt),
  };
}

const ADD_DATA_CHANGES = readStatement(new URL('../store/sql/add-data-changes.sql', import.meta.url));

/**
 * Adds `data.updated` to the grants that share what has changed. It is due after DATA_DELAY_MS, and `spacingMs` after the one before was
 * due, and takes up the changes reported until it is sent. An app without an endpoint gets none. Reporting a change twice makes at most one
 * event more.
 */
async function addDataChanges(
  pool: pg.Pool,
  changes: readonly DataChange[],
  spacingMs: number,
): Promise<void> {
  if (changes.length === 0) return;
  const columns = [
    changes.map(({ userId }) => userId),
    changes.map(({ category }) => category),
    changes.map(({ category }) => scopeOfCategory(category)),
    changes.map(({ at }) => at.toISOString()),
    changes.map(({ latestReadingAt }) => latestReadingAt.toISOString()),
  ];
  const times = [Math.min(DATA_DELAY_MS, spacingMs) / 1_000, spacingMs / 1_000];
  await runStatement(pool, ADD_DATA_CHANGES, ...columns, ...times);
}

const ANNOUNCE_EXPIRED = readStatement(new URL('../store/sql/announce-expired.sql', import.meta.url));
const ANNOUNCE_ENDING = readStatement(new URL('../store/sql/announce-ending.sql', import.meta.url));
const ANNOUNCE_REVOKED_WITH_APP = readStatement(
  new URL('../store/sql/announce-revoked-with-app.sql', import.meta.url),
);
const FIND_SCAN = readStatement(new URL('../store/sql/find-scan.sql', import.meta.url));
const FIND_ENDS = readStatement(new URL('../store/sql/find-ends.sql', import.meta.url));
const MOVE_SCAN = readStatement(new URL('../store/sql/move-scan.sql', import.meta.url));
const FIND_FANOUT = readStatement(new URL('../store/sql/find-fanout.sql', import.meta.url));
const FIND_GRANTS_OF_APP = readStatement(new URL('../store/sql/find-grants-of-app.sql', import.meta.url));
const MOVE_FANOUT = readStatement(new URL('../store/sql/move-fanout.sql', import.meta.url));
const DELETE_FANOUT = readStatement(new URL('../store/sql/delete-fanout.sql', import.meta.url));

/**
 * Seconds after its time from which an end is announced: longer than a transaction can take that sets an end. So no grant appears behind
 * the place that a search has reached.
 */
const MARGIN_SECONDS = 15;

/** Grants in one transaction, which lasts some milliseconds. */
const GRANTS_AT_ONCE = 1_000;

/** How many days before its end the deployment is told of it. */
const WARNED_DAYS = [7, 1];

/**
 * Adds the events of grants that no statement changes when they end: of those that ended with their app, of those that expired, and
 * `connection.ending` for those that are about to end. Row locks keep several instances from doing the same work. Ends when aborted; a later
 * run goes on where this one ended.
 */
export async function addDueEvents(pool: pg.Pool, signal: AbortSignal): Promise<void> {
  const addAll = async (add: (tx: pg.ClientBase) => Promise<boolean>) => {
    while (!signal.aborted && (await transact(pool, add)));
  };
  await addAll((tx) => addRevokedWithApp(tx, GRANTS_AT_ONCE));
  await addAll((tx) => searchEnds(tx, 0, GRANTS_AT_ONCE, (ids) => runStatement(tx, ANNOUNCE_EXPIRED, ids)));
  for (const daysLeft of WARNED_DAYS) {
    await addAll((tx) =>
      searchEnds(tx, daysLeft, GRANTS_AT_ONCE, (ids) => runStatement(tx, ANNOUNCE_ENDING, ids, daysLeft)),
    );
  }
}

/** How far a search over grants has got: the time by which they are ordered, and the id, of the last grant that was checked. */
interface Place {
  readonly placeAt: Date | null;
  readonly placeId: string;
}

/**
 * Gives the next grants to `add` that end within so many days, in the order of their ends. Their place is stored by the same transaction,
 * so each end is found once. Returns false when there are no more, or another instance searches.
 */
async function searchEnds(
  tx: pg.ClientBase,
  daysLeft: number,
  size: number,
  add: (ids: readonly string[]) => Promise<unknown>,
): Promise<boolean> {
  const [place] = await queryRows<Place>(tx, FIND_SCAN, daysLeft);
  if (place === undefined) return false;
  const { placeAt, placeId } = place;
  const grants = await queryRows<{ id: string; expiresAt: Date }>(
    tx,
    FIND_ENDS,
    placeAt,
    placeId,
    daysLeft,
    MARGIN_SECONDS,
    size,
  );
  const last = grants.at(-1);
  if (last === undefined) return false;
  await add(grants.map(({ id }) => id));
  await runStatement(tx, MOVE_SCAN, daysLeft, last.expiresAt, last.id);
  return grants.length === size;
}

/** Those whose epoch ended with this revocation, and that were live then, in the order of their start. */
async function addRevokedWithApp(tx: pg.ClientBase, size: number): Promise<boolean> {
  const [fanout] = await queryRows<Place & { clientId: string; endedAt: Date }>(tx, FIND_FANOUT);
  if (fanout === undefined) return false;
  const { clientId, endedAt, placeAt, placeId } = fanout;
  const grants = await queryRows<{ id: string; at: Date }>(
    tx,
    FIND_GRANTS_OF_APP,
    clientId,
    placeAt,
    placeId,
    size,
  );
  const ids = grants.map(({ id }) => id);
  await runStatement(tx, ANNOUNCE_REVOKED_WITH_APP, ids, endedAt);
  const last = grants.length < size ? undefined : grants.at(-1);
  await (last === undefined
    ? runStatement(tx, DELETE_FANOUT, clientId, endedAt)
    : runStatement(tx, MOVE_FANOUT, clientId, endedAt, last.at, last.id));
  return true;
}
