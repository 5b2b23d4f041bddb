import { SCOPES } from '@phds/catalog/scopes';
import type { AccessFilter } from '../../api/accesses.ts';
import { useGrants } from '../../api/grants.ts';
import { Row } from '../../ui/card.tsx';
import { Select, TextField } from '../../ui/field.tsx';

const ALL = 'all';

/** What the person has chosen to see; `all` and an empty date are no filter. */
export interface Selection {
  readonly clientId: string;
  readonly scope: string;
  readonly from: string;
  /** The last day shown. */
  readonly to: string;
}

export const EVERYTHING: Selection = { clientId: ALL, scope: ALL, from: '', to: '' };

/** The selection as the service takes it: `to` becomes exclusive. */
export function toFilter({ clientId, scope, from, to }: Selection): AccessFilter {
  return {
    ...(clientId === ALL ? {} : { clientId }),
    ...(scope === ALL ? {} : { scope }),
    ...(from === '' ? {} : { from }),
    ...(to === '' ? {} : { to: dayAfter(to) }),
  };
}

function dayAfter(date: string): string {
  const next = new Date(`${date}T00:00:00Z`);
  next.setUTCDate(next.getUTCDate() + 1);
  return next.toISOString().slice(0, 10);
}

/** Chooses app, part and days. */
export function Filters({
  selection,
  onChange,
}: {
  readonly selection: Selection;
  readonly onChange: (selection: Selection) => void;
}) {
  const grants = useGrants(undefined, 1, 100);
  const apps = new Map(grants.data?.data.map(({ app }) => [app.clientId, app.name]));
  const set = (part: Partial<Selection>) => onChange({ ...selection, ...part });
  return (
    <Row>
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
      <TextField label="From" type="date" value={selection.from} onChange={(from) => set({ from })} />
      <TextField label="To" type="date" value={selection.to} onChange={(to) => set({ to })} />
    </Row>
  );
}
