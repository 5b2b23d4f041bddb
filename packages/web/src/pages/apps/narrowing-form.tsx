import { type FormEvent, useState } from 'react';
import { type Narrowing, useNarrowing } from '../../api/grants.ts';
import type { Grant } from '../../api/resources.ts';
import { Button } from '../../ui/button.tsx';
import { Card, Row, Soft, Stack } from '../../ui/card.tsx';
import { Checkbox, TextField } from '../../ui/field.tsx';
import { ErrorNotice } from '../../ui/notice.tsx';
import { scopeTitle } from '../../ui/scopes.ts';
import { toggled } from '../../ui/toggled.ts';

/** Gives an app less: fewer scopes, an earlier end, a later first day. Never more; for that the app has to ask. */
export function NarrowingForm({ grant }: { readonly grant: Grant }) {
  const [kept, setKept] = useState(() => new Set(grant.scopes));
  const [lastDay, setLastDay] = useState('');
  const [dataFrom, setDataFrom] = useState('');
  const narrowing = useNarrowing(grant.id);
  const change = toNarrowing(grant, { kept, lastDay, dataFrom });

  const submit = (event: FormEvent) => {
    event.preventDefault();
    narrowing.mutate(change);
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
              isSelected={kept.has(scope)}
              onChange={(isSelected) => setKept(toggled(kept, scope, isSelected))}
            >
              {scopeTitle(scope)}
            </Checkbox>
          ))}
        </Stack>
        <Row>
          <TextField
            label="End after"
            type="date"
            value={lastDay}
            onChange={setLastDay}
            max={grant.expiresAt.slice(0, 10)}
          />
          <TextField label="Hide data before" type="date" value={dataFrom} onChange={setDataFrom} />
        </Row>
        {kept.size === 0 ? <Soft>To take away everything, stop sharing above.</Soft> : null}
        {narrowing.error === null ? null : (
          <ErrorNotice error={narrowing.error} title="Nothing was changed." />
        )}
        <Row>
          <Button
            type="submit"
            kind="primary"
            isDisabled={narrowing.isPending || kept.size === 0 || Object.keys(change).length === 0}
          >
            Share less
          </Button>
          {narrowing.isSuccess ? <span role="status">Done. It is effective.</span> : null}
        </Row>
      </Card>
    </form>
  );
}

/** What the form changes; empty when it changes nothing. The last day ends at midnight of this browser's zone. */
function toNarrowing(
  grant: Grant,
  { kept, lastDay, dataFrom }: { kept: ReadonlySet<string>; lastDay: string; dataFrom: string },
): Narrowing {
  const [year = 0, month = 1, day = 1] = lastDay.split('-').map(Number);
  return {
    ...(kept.size === grant.scopes.length ? {} : { scopes: grant.scopes.filter((scope) => kept.has(scope)) }),
    ...(lastDay === '' ? {} : { expiresAt: new Date(year, month - 1, day + 1).toISOString() }),
    ...(dataFrom === '' ? {} : { dataFrom }),
  };
}
