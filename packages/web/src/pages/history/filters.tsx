import { SCOPES } from '@phds/catalog/scopes';
import type { AccessFilter } from '../../api/accesses.ts';
import { useGrants } from '../../api/grants.ts';
import { Fields } from '../../ui/card.tsx';
import { addDays, today } from '../../ui/days.ts';
import { Select, TextField } from '../../ui/field.tsx';
import { nameApps } from './app-names.ts';

const ALL = 'all';
const USUAL_DAYS = 30;
// The maximum number of days that the service returns.
const LONGEST_DAYS = 366;

/** The selected filters; `all` and an empty day mean no filter. */
export interface Selection {
  readonly clientId: string;
  readonly scope: string;
  readonly from: string;
  /** The last day, inclusive. */
  readonly to: string;
}

export const EVERYTHING: Selection = { clientId: ALL, scope: ALL, from: '', to: '' };

/** The filter for the list. Days are in the browser's zone, from midnight to midnight. */
export function toFilter(selection: Selection): AccessFilter {
  const [from, to] = [findDay(selection.from), findDay(selection.to)];
  return {
    ...toParts(selection),
    ...(from === null ? {} : { from: toMidnight(from, 0) }),
    ...(to === null ? {} : { to: toMidnight(to, 1) }),
  };
}

/** The filter for the chart, in UTC days: 30 days unless the first is given, a year at most. */
export function toDayFilter(selection: Selection): AccessFilter & { from: string; to: string } {
  const from = findDay(selection.from);
  // The current day in the browser's zone may not have started in UTC.
  const latest = from !== null && from > today() ? from : today();
  const to = findDay(selection.to) ?? latest;
  const earliest = addDays(to, 1 - LONGEST_DAYS);
  const first = from ?? addDays(to, 1 - USUAL_DAYS);
  // biome-ignore lint/complexity/useMathMinMax: days are texts
  return { ...toParts(selection), from: first < earliest ? earliest : first, to };
}

function toParts({ clientId, scope }: Selection): AccessFilter {
  return { ...(clientId === ALL ? {} : { clientId }), ...(scope === ALL ? {} : { scope }) };
}

/** A given day; null if its year is still being typed (0020-11-21). */
function findDay(day: string): string | null {
  return /^[12]\d{3}-/.test(day) ? day : null;
}

function toMidnight(date: string, daysLater: number): string {
  const [year = 0, month = 1, day = 1] = date.split('-').map(Number);
  return new Date(year, month - 1, day + daysLater).toISOString();
}

/** Selects app, scope and days. */
export function Filters({
  selection,
  onChange,
}: {
  readonly selection: Selection;
  readonly onChange: (selection: Selection) => void;
}) {
  const grants = useGrants(undefined, 1, 100);
  const apps = nameApps(grants.data?.data.map(({ app }) => app) ?? []);
  const set = (part: Partial<Selection>) => onChange({ ...selection, ...part });
  return (
    <Fields>
      <Select
        label="App"
        value={selection.clientId}
        onChange={(clientId) => set({ clientId })}
        options={[{ id: ALL, text: 'Every app' }, ...[...apps].map(([id, text]) => ({ id, text }))]}
      />
      <Select
        label="What"
        value={selection.scope}
        onChange={(scope) => set({ scope })}
        options={[
          { id: ALL, text: 'Everything' },
          ...SCOPES.map(({ scope, title }) => ({ id: scope, text: title })),
        ]}
      />
      <TextField
        label="From"
        type="date"
        value={selection.from}
        max={selection.to}
        onChange={(from) => set({ from })}
      />
      <TextField
        label="To"
        type="date"
        value={selection.to}
        min={selection.from}
        onChange={(to) => set({ to })}
      />
    </Fields>
  );
}
