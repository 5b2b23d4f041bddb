import { GRANT_DAYS_DEFAULT } from '@phds/catalog/lifetimes';
import { SCOPE_NAMES } from '@phds/catalog/scopes';
import type { ApprovedTerms, PendingApproval } from '../../api/resources.ts';
import { addDays, localDay } from '../../ui/days.ts';
import { formatInstant, formatLastDay } from '../../ui/time.tsx';

const DAY_MS = 86_400_000;
const MONTH_DAYS = 30;
const DEFAULT_LIFE = String(GRANT_DAYS_DEFAULT);

/** The choice to keep the connection's end, or its first day. */
export const KEPT = 'kept';

export type LookBack = typeof KEPT | 'today' | 'month' | 'everything' | 'day';

/** What the person has changed on the approval screen. */
export interface Choices {
  /** Scopes that were ticked or unticked. */
  readonly ticks: ReadonlyMap<string, boolean>;
  /** A number of days, or KEPT; null before a choice. */
  readonly life: string | null;
  /** Null before a choice. */
  readonly lookBack: LookBack | null;
  /** The chosen first day (YYYY-MM-DD); empty while it is not complete. */
  readonly day: string;
}

export const NO_CHOICES: Choices = { ticks: new Map(), life: null, lookBack: null, day: '' };

/** The meaning of the choices: what an approval would send, and what the app could read then. */
export interface Terms {
  readonly chosen: readonly string[];
  /** All scopes of the connection then, with those that were not asked for. */
  readonly scopes: readonly string[];
  /** Scopes that are shared now and would no longer be. */
  readonly stopped: readonly string[];
  /** Scopes that are not shared now and would be. */
  readonly added: readonly string[];
  /** Scopes that are shared now and were not asked for. */
  readonly others: readonly string[];
  /** A number of days, or KEPT. */
  readonly life: string;
  /** Unix milliseconds. */
  readonly end: number;
  readonly lookBack: LookBack;
  /** The first day that the app sees (YYYY-MM-DD); null for everything. */
  readonly firstDay: string | null;
  readonly dayFault: 'missing' | 'future' | null;
}

/**
 * Interprets the choices. Nothing is chosen beforehand, except what is shared already and asked for again. End and first day of a
 * connection stay unless changed.
 */
export function toTerms(approval: PendingApproval, choices: Choices, now: number): Terms {
  const { connection, requestedScopes } = approval;
  const shared = connection?.scopes ?? [];
  const requested = requestedScopes.map(({ scope }) => scope);
  const chosen = requestedScopes
    .filter(({ scope, alreadyShared }) => choices.ticks.get(scope) ?? alreadyShared)
    .map(({ scope }) => scope);
  const others = shared.filter((scope) => !requested.includes(scope));
  const life = findChoice(choices.life, approval, DEFAULT_LIFE);
  const end =
    life === KEPT && connection !== null ? Date.parse(connection.expiresAt) : now + Number(life) * DAY_MS;
  return {
    chosen,
    scopes: inCatalogOrder([...chosen, ...others]),
    stopped: shared.filter((scope) => requested.includes(scope) && !chosen.includes(scope)),
    added: chosen.filter((scope) => !shared.includes(scope)),
    others,
    life,
    end,
    ...toFirstDay(approval, choices, now),
  };
}

/** The choice made; before one, KEPT if there is a connection. A connection that has ended in the meantime cannot be kept. */
function findChoice<Choice extends string>(
  choice: Choice | null,
  { connection }: PendingApproval,
  otherwise: Choice,
): Choice | typeof KEPT {
  if (connection === null) return choice === null || choice === KEPT ? otherwise : choice;
  return choice ?? KEPT;
}

function toFirstDay(approval: PendingApproval, choices: Choices, now: number) {
  const lookBack: LookBack = findChoice<LookBack>(choices.lookBack, approval, 'month');
  const today = localDay(now);
  const days: Readonly<Record<LookBack, string | null>> = {
    kept: approval.connection?.dataFrom ?? null,
    today,
    month: addDays(today, -MONTH_DAYS),
    everything: null,
    day: choices.day,
  };
  const firstDay = days[lookBack];
  return { lookBack, firstDay, dayFault: lookBack === 'day' ? findDayFault(choices.day, today) : null };
}

function findDayFault(day: string, today: string): Terms['dayFault'] {
  if (day === '') return 'missing';
  return day > today ? 'future' : null;
}

/** When sharing ends. A single day ends within a day that the person knows, so its end has a time. */
export function formatEnd({ life, end }: Terms): string {
  return life === '1' ? formatInstant(new Date(end).toISOString()) : formatLastDay(end);
}

/** The body of an approval. The first day must have no fault. */
export function toApproved({ chosen, life, firstDay }: Terms): ApprovedTerms {
  const end = life === KEPT ? { keepExpiry: true as const } : { expiresInDays: Number(life) };
  return { scopes: chosen, ...end, dataFrom: firstDay };
}

function inCatalogOrder(scopes: readonly string[]): string[] {
  const places = new Map<string, number>(SCOPE_NAMES.map((scope, index) => [scope, index]));
  return scopes.toSorted((one, other) => (places.get(one) ?? 0) - (places.get(other) ?? 0));
}
