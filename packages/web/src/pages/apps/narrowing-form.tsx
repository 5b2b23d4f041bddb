import { useState } from 'react';
import { useNarrowing } from '../../api/grants.ts';
import { violationOf } from '../../api/problem.ts';
import type { Grant } from '../../api/resources.ts';
import { appTitle } from '../../ui/app-title.ts';
import { Button } from '../../ui/button.tsx';
import { Card, Fields, Row, Soft } from '../../ui/card.tsx';
import { ChangeNotice } from '../../ui/change-notice.tsx';
import { Checkbox, CheckboxGroup, TextField } from '../../ui/field.tsx';
import { focusInvalidField } from '../../ui/focus.ts';
import { formatList } from '../../ui/formats.ts';
import { Notice } from '../../ui/notice.tsx';
import { scopeDescription, scopeTitle } from '../../ui/scopes.ts';
import { formatDate, formatInstant } from '../../ui/time.tsx';
import { toggled } from '../../ui/toggled.ts';
import { describeWithdrawal } from '../../ui/withdrawal.ts';
import style from './apps.module.css';
import {
  type Draft,
  type Fault,
  findFault,
  findFirstDays,
  findLastDays,
  toNarrowing,
} from './narrowing-draft.ts';
import { toTypeGroups } from './shared-types.tsx';
import { text } from './texts.ts';

const NOTHING: Draft = { withdrawn: new Set(), lastDay: '', dataFrom: '' };

/** Narrows a grant: fewer scopes, an earlier end, a later first day. Only its button submits. */
export function NarrowingForm({ grant }: { readonly grant: Grant }) {
  const [draft, setDraft] = useState(NOTHING);
  const [fault, setFault] = useState<Fault | null>(null);
  const [withdrawn, setWithdrawn] = useState<readonly string[]>([]);
  const narrowing = useNarrowing(grant.id);
  const set = (part: Partial<Draft>) => {
    setDraft({ ...draft, ...part });
    setFault(null);
    narrowing.reset();
  };
  const submit = (sent: Draft) => {
    const found = findFault(grant, sent, Date.now());
    setFault(found);
    if (found !== null) return focusInvalidField();
    // Edits made during the change are kept.
    const onSuccess = () => setDraft((present) => (present === sent ? NOTHING : present));
    setDraft(sent);
    setWithdrawn([...sent.withdrawn]);
    narrowing.mutate(toNarrowing(grant, sent), { onSuccess });
  };
  const isSaved = fault === null && narrowing.isSuccess;
  const app = appTitle(grant.app);
  return (
    <Card label={text('change')}>
      <Soft>{text('changeHint', { app })}</Soft>
      <TypeFields
        scopes={grant.scopes}
        withdrawn={draft.withdrawn}
        onChange={(withdrawn) => set({ withdrawn })}
      />
      <StillCovered
        grant={grant}
        withdrawn={isSaved ? withdrawn : [...draft.withdrawn]}
        isSaved={isSaved}
        onStop={(through) => {
          const more = { withdrawn: new Set([...draft.withdrawn, ...through]) };
          if (isSaved) submit({ ...draft, ...more });
          else set(more);
        }}
      />
      <DayFields grant={grant} draft={draft} onChange={set} fault={fault} error={narrowing.failure?.error} />
      <ChangeNotice
        failure={narrowing.failure}
        undone={text('notSaved')}
        unknown={text('saveUnknown')}
        labels={{ expiresAt: text('lastDay'), dataFrom: text('firstDay') }}
      />
      <Row>
        <Button kind="primary" isBusy={narrowing.isPending} onPress={() => submit(draft)}>
          {text('save')}
        </Button>
        <span role="status">
          {fault?.field === null ? text(fault.id) : null}
          {isSaved ? savedText(app, grant.scopes, withdrawn) : null}
          {isSaved && draft !== NOTHING ? ` ${text('savedPartly')}` : null}
        </span>
      </Row>
    </Card>
  );
}

/** The shared types in their groups, each with what it is. */
function TypeFields({
  scopes,
  withdrawn,
  onChange,
}: {
  readonly scopes: readonly string[];
  readonly withdrawn: ReadonlySet<string>;
  readonly onChange: (withdrawn: ReadonlySet<string>) => void;
}) {
  return toTypeGroups(scopes).map(({ title, types }) => (
    <CheckboxGroup key={title} title={title}>
      {types.map((scope) => (
        <div key={scope}>
          <Checkbox
            isSelected={!withdrawn.has(scope)}
            onChange={(isSelected) => onChange(toggled(withdrawn, scope, !isSelected))}
          >
            {scopeTitle(scope)}
          </Checkbox>
          <div className={style['described']}>{scopeDescription(scope)}</div>
        </div>
      ))}
    </CheckboxGroup>
  ));
}

/** What the app can no longer read after the change; just that it was saved if only days changed. */
function savedText(app: string, scopes: readonly string[], withdrawn: readonly string[]): string {
  const { gone } = describeWithdrawal(app, scopes, withdrawn);
  return gone.length === 0
    ? text('saved')
    : text('savedWithout', { app, types: formatList(gone.map(scopeTitle)) });
}

/** Tells which withdrawn data the app gets through what it keeps, and stops that too. */
function StillCovered({
  grant: { app, scopes },
  withdrawn,
  isSaved,
  onStop,
}: {
  readonly grant: Grant;
  readonly withdrawn: readonly string[];
  readonly isSaved: boolean;
  readonly onStop: (through: readonly string[]) => void;
}) {
  const { coarser, goesOn, through } = describeWithdrawal(appTitle(app), scopes, withdrawn);
  return (
    <div role="status">
      {goesOn === null ? null : (
        <Notice tone="warn">
          {isSaved ? coarser.map((sentence) => <strong key={sentence}>{sentence}</strong>) : null}
          <span>{goesOn}</span>
          <Row>
            <Button onPress={() => onStop(through)}>{text('stopThoseToo')}</Button>
          </Row>
        </Notice>
      )}
    </div>
  );
}

function DayFields({
  grant,
  draft,
  onChange,
  fault,
  error,
}: {
  readonly grant: Grant;
  readonly draft: Draft;
  readonly onChange: (part: Partial<Draft>) => void;
  readonly fault: Fault | null;
  readonly error: unknown;
}) {
  const { expiresAt, dataFrom } = grant;
  const errorOf = (field: Fault['field']) => (fault?.field === field ? faultText(fault, grant) : undefined);
  const isRefused = (parameter: string) => violationOf(error, parameter) !== undefined;
  return (
    <Fields>
      <TextField
        label={text('lastDay')}
        type="date"
        value={draft.lastDay}
        onChange={(lastDay) => onChange({ lastDay })}
        range={findLastDays(grant, Date.now())}
        hint={text('lastDayNow', { end: formatInstant(expiresAt) })}
        error={errorOf('lastDay') ?? (isRefused('expiresAt') ? text('faultLastDay') : undefined)}
      />
      <TextField
        label={text('firstDay')}
        type="date"
        value={draft.dataFrom}
        onChange={(day) => onChange({ dataFrom: day })}
        range={findFirstDays(grant, Date.now())}
        hint={dataFrom === null ? text('firstDayNowAll') : text('firstDayNow', { day: formatDate(dataFrom) })}
        error={errorOf('dataFrom') ?? (isRefused('dataFrom') ? text('faultFirstDay') : undefined)}
      />
    </Fields>
  );
}

function faultText({ id }: Fault, { dataFrom }: Grant): string {
  return id === 'faultFirstDayEarly' && dataFrom !== null
    ? text(id, { day: formatDate(dataFrom) })
    : text(id);
}
