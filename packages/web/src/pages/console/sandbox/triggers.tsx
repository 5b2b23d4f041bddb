import { type FormEvent, useState } from 'react';
import { useTrigger } from '../../../api/developer-apps.ts';
import { Problem, violationOf } from '../../../api/problem.ts';
import type { DeveloperApp, Triggered } from '../../../api/resources.ts';
import { Button } from '../../../ui/button.tsx';
import { Card, Row, Soft } from '../../../ui/card.tsx';
import { Select, TextField } from '../../../ui/field.tsx';
import { Notice } from '../../../ui/notice.tsx';
import { linkTo } from '../../../ui/web-link.tsx';
import { NotChanged } from '../not-changed.tsx';
import { Rich, text } from '../texts.ts';

type Trigger = Triggered['trigger'];

const TEXTS = {
  'data.arrive': 'dataArrive',
  'data.correct': 'dataCorrect',
  'data.delete': 'dataDelete',
  'grant.narrow': 'grantNarrow',
  'grant.revoke': 'grantRevoke',
  'grant.expire': 'grantExpire',
} as const satisfies Record<Trigger, string>;

const TRIGGERS = Object.keys(TEXTS) as Trigger[];

/** In a sandbox deployment: lets something happen to a connection, as its person or time would. */
export function Triggers({ app: { clientId } }: { readonly app: DeveloperApp }) {
  const [grantId, setGrantId] = useState('');
  const [trigger, setTrigger] = useState<Trigger>('data.arrive');
  const change = useTrigger(clientId);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!change.isPending && grantId.trim() !== '') change.mutate({ trigger, grantId: grantId.trim() });
  };
  return (
    <form onSubmit={submit}>
      <Card label={text('triggers')}>
        <h2>{text('triggers')}</h2>
        <Soft>
          <Rich id="triggersText" components={linkTo('/docs/sandbox')} />
        </Soft>
        <TextField
          label={text('grant')}
          isRequired
          value={grantId}
          onChange={(value) => {
            setGrantId(value);
            change.reset();
          }}
          hint={text('grantHint')}
          error={violationOf(change.error, 'grantId')}
        />
        <Select
          label={text('trigger')}
          value={trigger}
          onChange={(id) => {
            setTrigger(TRIGGERS.find((known) => known === id) ?? 'data.arrive');
            change.reset();
          }}
          options={TRIGGERS.map((id) => ({ id, text: text(TEXTS[id]) }))}
        />
        <Refusal error={change.error} />
        <Row>
          <Button kind="primary" type="submit" isBusy={change.isPending} isDisabled={grantId.trim() === ''}>
            {text('letHappen')}
          </Button>
          <span role="status">{change.data === undefined ? '' : <Outcome triggered={change.data} />}</span>
        </Row>
      </Card>
    </form>
  );
}

/** What is different now. */
function Outcome({ triggered: { changed, category, id, scope } }: { readonly triggered: Triggered }) {
  if (!changed) return text('nothingChanged');
  const what = scope ?? (category === null || id === null ? null : `${category}, ${id}`);
  return what === null ? text('triggered') : text('triggeredWhat', { what });
}

/** Why nothing happened: for a connection that the app does not have, or that has ended, in words of this page. */
function Refusal({ error }: { readonly error: unknown }) {
  const { status } = error instanceof Problem ? error : { status: 0 };
  if (status !== 404 && status !== 409) {
    return <NotChanged error={error} undone="notTriggered" unknown="triggerUnknown" />;
  }
  return (
    <Notice role="alert" tone="bad" title={text('notTriggered')}>
      {text(status === 404 ? 'unknownGrant' : 'cannotHappen')}
    </Notice>
  );
}
