import { type FormEvent, useState } from 'react';
import { useNarrowing } from '../../api/grants.ts';
import { violationOf } from '../../api/problem.ts';
import type { Grant } from '../../api/resources.ts';
import { Button } from '../../ui/button.tsx';
import { Card, Fields, Row, Soft, Stack } from '../../ui/card.tsx';
import { ChangeNotice } from '../../ui/change-notice.tsx';
import { Checkbox, TextField } from '../../ui/field.tsx';
import { scopeTitle } from '../../ui/scopes.ts';
import { toggled } from '../../ui/toggled.ts';
import { type Draft, findFault, findLastDays, toNarrowing } from './narrowing-draft.ts';

const NOTHING: Draft = { withdrawn: new Set(), lastDay: '', dataFrom: '' };

/** Narrows a grant: fewer scopes, an earlier end, a later first day. To get more, the app has to request it. */
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
    const found = findFault(grant, draft, Date.now());
    setFault(found);
    if (found !== null) return;
    // Edits made during the change are kept.
    const onSuccess = () => setDraft((present) => (present === draft ? NOTHING : present));
    narrowing.mutate(toNarrowing(grant, draft), { onSuccess });
  };
  const done =
    draft === NOTHING
      ? 'Done. It is effective.'
      : 'Done. It is effective. What you changed since then is not sent yet.';

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
          <TextField
            label="End after"
            type="date"
            value={draft.lastDay}
            onChange={(lastDay) => set({ lastDay })}
            {...findLastDays(grant, Date.now())}
            error={
              violationOf(narrowing.failure?.error, 'expiresAt') === undefined
                ? undefined
                : 'This day is over, or sharing ends before it is over.'
            }
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
          <span role="status">{fault ?? (narrowing.isSuccess ? done : null)}</span>
        </Row>
      </Card>
    </form>
  );
}
