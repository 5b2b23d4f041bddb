import { type FormEvent, useState } from 'react';
import { type Narrowing, useNarrowing } from '../../api/grants.ts';
import { violationOf } from '../../api/problem.ts';
import type { Grant } from '../../api/resources.ts';
import { Button } from '../../ui/button.tsx';
import { Card, Fields, Row, Soft, Stack } from '../../ui/card.tsx';
import { ChangeNotice } from '../../ui/change-notice.tsx';
import { addDays, localDay } from '../../ui/days.ts';
import { Checkbox, TextField } from '../../ui/field.tsx';
import { scopeTitle } from '../../ui/scopes.ts';
import { toggled } from '../../ui/toggled.ts';

/** What a person has chosen; dates are YYYY-MM-DD or empty. */
interface Draft {
  readonly withdrawn: ReadonlySet<string>;
  readonly lastDay: string;
  readonly dataFrom: string;
}

const NOTHING: Draft = { withdrawn: new Set(), lastDay: '', dataFrom: '' };

/** Gives an app less: fewer scopes, an earlier end, a later first day. Never more; for that the app has to ask. */
export function NarrowingForm({ grant }: { readonly grant: Grant }) {
  const [draft, setDraft] = useState(NOTHING);
  const [fault, setFault] = useState<string | null>(null);
  const narrowing = useNarrowing(grant.id);
  const set = (part: Partial<Draft>) => {
    setDraft({ ...draft, ...part });
    setFault(null);
    narrowing.reset();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const found = findFault(grant, draft);
    setFault(found);
    if (found === null) narrowing.mutate(toNarrowing(grant, draft), { onSuccess: () => setDraft(NOTHING) });
  };

  return (
    <form onSubmit={submit} aria-label="Share less">
      <Card>
        <h2>Share less</h2>
        <Soft>
          Take a tick away to stop sharing that part. It takes effect at once; to share more again, start in
          the app.
        </Soft>
        <Stack tight>
          {grant.scopes.map((scope) => (
            <Checkbox
              key={scope}
              isSelected={!draft.withdrawn.has(scope)}
              onChange={(isSelected) => set({ withdrawn: toggled(draft.withdrawn, scope, !isSelected) })}
            >
              {scopeTitle(scope)}
            </Checkbox>
          ))}
        </Stack>
        <Fields>
          {/* A day that is whole: it ends at the next midnight, which comes before the present end. */}
          <TextField
            label="End after"
            type="date"
            value={draft.lastDay}
            onChange={(lastDay) => set({ lastDay })}
            max={addDays(localDay(grant.expiresAt), -1)}
            error={violationOf(narrowing.failure?.error, 'expiresAt')}
          />
          <TextField
            label="Hide data before"
            type="date"
            value={draft.dataFrom}
            onChange={(dataFrom) => set({ dataFrom })}
            error={violationOf(narrowing.failure?.error, 'dataFrom')}
          />
        </Fields>
        <ChangeNotice
          failure={narrowing.failure}
          undone="Nothing was changed yet."
          unknown="We could not find out whether this was changed."
          advice="Check your connection, then press “Share less” again. The same change twice does no harm."
        />
        <Row>
          <Button type="submit" kind="primary" isBusy={narrowing.isPending}>
            Share less
          </Button>
          <span role="status">{narrowing.isSuccess ? 'Done. It is effective.' : fault}</span>
        </Row>
      </Card>
    </form>
  );
}

/** Why the form cannot be sent as it is, or null. */
function findFault({ scopes }: Grant, draft: Draft): string | null {
  if (scopes.every((scope) => draft.withdrawn.has(scope)))
    return 'To take away everything, stop sharing above.';
  const isUnchanged = draft.withdrawn.size === 0 && draft.lastDay === '' && draft.dataFrom === '';
  return isUnchanged ? 'Take a tick away or choose a day first.' : null;
}

/** What the form changes. The last day ends at midnight of this browser's zone. */
function toNarrowing({ scopes }: Grant, { withdrawn, lastDay, dataFrom }: Draft): Narrowing {
  const [year = 0, month = 1, day = 1] = lastDay.split('-').map(Number);
  return {
    ...(withdrawn.size === 0 ? {} : { scopes: scopes.filter((scope) => !withdrawn.has(scope)) }),
    ...(lastDay === '' ? {} : { expiresAt: new Date(year, month - 1, day + 1).toISOString() }),
    ...(dataFrom === '' ? {} : { dataFrom }),
  };
}
