import { SCOPES } from '@phds/catalog/scopes';
import { Fields, Stack } from '../../ui/card.tsx';
import { Select, TextField } from '../../ui/field.tsx';
import { RadioChoice } from '../../ui/radio-choice.tsx';
import { scopeTitle } from '../../ui/scopes.ts';
import { ALL, findPeriod, PERIODS, type Selection, toPeriod } from './selection.ts';
import { text } from './texts.ts';

/** Selects a period, and folded the app, the type of data and other days. */
export function Filters({
  selection,
  appNames,
  onChange,
}: {
  readonly selection: Selection;
  /** By client id. */
  readonly appNames: ReadonlyMap<string, string>;
  readonly onChange: (selection: Selection) => void;
}) {
  const set = (part: Partial<Selection>) => onChange({ ...selection, ...part });
  return (
    <Stack tight>
      <RadioChoice
        label={text('days')}
        value={String(findPeriod(selection) ?? '')}
        onChange={(days) => onChange(toPeriod(selection, Number(days)))}
        choices={PERIODS.map((count) => ({ id: String(count), text: text('lastDays', { count }) }))}
      />
      <details>
        <summary>{text('moreFilters')}</summary>
        <Fields>
          <Select
            label={text('app')}
            value={selection.clientId}
            onChange={(clientId) => set({ clientId })}
            options={[
              { id: ALL, text: text('allApps') },
              ...[...appNames].map(([id, name]) => ({ id, text: name })),
            ]}
          />
          <Select
            label={text('data')}
            value={selection.scope}
            onChange={(scope) => set({ scope })}
            options={[
              { id: ALL, text: text('allData') },
              ...SCOPES.map(({ scope }) => ({ id: scope, text: scopeTitle(scope) })),
            ]}
          />
          <TextField
            label={text('from')}
            type="date"
            value={selection.from}
            range={{ max: selection.to }}
            onChange={(from) => set({ from })}
          />
          <TextField
            label={text('to')}
            type="date"
            value={selection.to}
            range={{ min: selection.from }}
            onChange={(to) => set({ to })}
          />
        </Fields>
      </details>
    </Stack>
  );
}
