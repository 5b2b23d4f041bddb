import { type ReactNode, useId, useState } from 'react';
import type { AccessFilter } from '../../api/accesses.ts';
import type { AccessDay } from '../../api/resources.ts';
import { appTitle } from '../../ui/app-title.ts';
import { Stack, Tag } from '../../ui/card.tsx';
import { Folded } from '../../ui/folded.tsx';
import { dateFormat, formatList } from '../../ui/formats.ts';
import { recordedTitles } from '../../ui/scopes.ts';
import { Pages, useFilteredPage } from '../../ui/table.tsx';
import { formatDate } from '../../ui/time.tsx';
import { toggled } from '../../ui/toggled.ts';
import { AccessList } from './access-list.tsx';
import style from './day-list.module.css';
import { type Selection, toDayFilter, toFilter } from './selection.ts';
import { text } from './texts.ts';

const DAYS_A_PAGE = 7;
/** Of a single connection; the others are folded. */
const FEW_DAYS = 2;
const NAMED_SCOPES = 3;

const dayFormat = dateFormat({
  weekday: 'long',
  day: 'numeric',
  month: 'long',
  year: 'numeric',
  timeZone: 'UTC',
});

interface Shown {
  /** By client id. */
  readonly appNames: ReadonlyMap<string, string>;
  readonly selection: Selection;
  readonly openLines: OpenLines;
}

/** The days with reads, newest first, in pages: a heading for each day, and for each app a line that opens to the single reads. */
export function DayList({ days, ...shown }: Shown & { readonly days: readonly AccessDay[] }) {
  const byDay = [...Map.groupBy(days, ({ date }) => date)];
  const [wanted, setPage] = useFilteredPage(shown.selection);
  const totalPages = Math.ceil(byDay.length / DAYS_A_PAGE);
  const page = Math.min(wanted, totalPages);
  const pagination = { page, pageSize: DAYS_A_PAGE, total: byDay.length, totalPages };
  return (
    <>
      {byDay.slice((page - 1) * DAYS_A_PAGE, page * DAYS_A_PAGE).map(([date, ofDay]) => (
        <Day key={date} date={date} apps={ofDay} {...shown} />
      ))}
      <Pages pagination={pagination} onChange={setPage} />
    </>
  );
}

function Day({
  date,
  apps,
  appNames,
  selection,
  openLines,
}: Shown & { readonly date: string; readonly apps: readonly AccessDay[] }) {
  const heading = useId();
  return (
    <section aria-labelledby={heading}>
      <Stack tight>
        <h2 id={heading}>{dayFormat().format(new Date(`${date}T00:00:00Z`))}</h2>
        {apps.map((day) => (
          <ReadsOfDay
            key={day.app.clientId}
            day={day}
            title={appNames.get(day.app.clientId) ?? appTitle(day.app)}
            filter={toFilter({
              ...toDayFilter({ ...selection, from: date, to: date }),
              clientId: day.app.clientId,
            })}
            openLines={openLines}
          />
        ))}
      </Stack>
    </section>
  );
}

/** What one app read on one day under a title; the single reads are loaded when it is opened. */
function ReadsOfDay({
  day,
  title,
  filter,
  openLines,
}: {
  readonly day: AccessDay;
  readonly title: string;
  readonly filter: AccessFilter;
  readonly openLines: OpenLines;
}) {
  const isOpen = openLines.has(day);
  const { released, refused, attempts } = day;
  return (
    <details
      className={style['app']}
      open={isOpen}
      onToggle={({ currentTarget }) => openLines.set(day, currentTarget.open)}
    >
      <summary>
        <strong>{title}</strong>{' '}
        {released === 0 && refused > 0 ? (
          <Tag tone="bad">{readsText(day)}</Tag>
        ) : (
          <span>{readsText(day)}</span>
        )}
        {released > 0 && refused > 0 ? (
          <>
            {' · '}
            <Tag tone="bad">{text('alsoBlocked', { count: refused })}</Tag>
          </>
        ) : null}
        {released + refused > 0 && attempts > 0 ? ` · ${text('tried', { count: attempts })}` : null}
      </summary>
      {isOpen ? <AccessList filter={filter} /> : null}
    </details>
  );
}

/** The days on which a connection was read through, newest first: a line for each day. */
export function ReadsByDay({
  days,
  grantId,
  empty,
}: {
  readonly days: readonly AccessDay[];
  readonly grantId: string;
  /** Shown instead of an empty list. */
  readonly empty: ReactNode;
}) {
  const openLines = useOpenLines();
  if (days.length === 0) return empty;
  const line = (day: AccessDay) => (
    <ReadsOfDay
      key={day.date}
      day={day}
      title={formatDate(day.date)}
      filter={toFilter({ grantId, from: day.date, to: day.date })}
      openLines={openLines}
    />
  );
  return (
    <>
      {days.slice(0, FEW_DAYS).map(line)}
      {days.length <= FEW_DAYS ? null : (
        <Folded title={text('moreDays', { count: days.length - FEW_DAYS })}>
          {() => <Stack tight>{days.slice(FEW_DAYS).map(line)}</Stack>}
        </Folded>
      )}
    </>
  );
}

/** “34 reads of Heart and Sleep”; if all were blocked, “2 blocked reads of Mood”; without reads, the attempts. */
function readsText({ released, refused, attempts, scopes }: AccessDay): string {
  if (released + refused === 0) return text('tried', { count: attempts });
  if (released === 0) return text('blockedReads', { count: refused, scopes: listScopes(scopes) });
  return text('reads', { count: released, scopes: listScopes(scopes.filter((scope) => scope.released > 0)) });
}

function listScopes(scopes: AccessDay['scopes']): string {
  const titles = recordedTitles(scopes);
  if (titles.length <= NAMED_SCOPES + 1) return formatList(titles);
  const named = titles.slice(0, NAMED_SCOPES);
  return formatList([...named, text('more', { count: titles.length - NAMED_SCOPES })]);
}

/** Which lines of the history are open, by day and app. */
export interface OpenLines {
  has(line: AccessDay): boolean;
  set(line: AccessDay, isOpen: boolean): void;
}

/**
 * The open lines, all closed at first. Belongs to the page, which stays while lines come and go: typing in the data filter selects
 * other data on the way, and a line must not be closed because that data has no reads.
 */
export function useOpenLines(): OpenLines {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  return {
    has: (line) => open.has(keyOf(line)),
    set: (line, isOpen) => setOpen((before) => toggled(before, keyOf(line), isOpen)),
  };
}

function keyOf({ date, app }: AccessDay): string {
  return `${date} ${app.clientId}`;
}
