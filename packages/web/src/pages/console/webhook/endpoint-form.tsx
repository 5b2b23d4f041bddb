import { WEBHOOK_EVENTS, type WebhookEvent } from '@phds/catalog/webhooks';
import { type FormEvent, useState } from 'react';
import { violationOf } from '../../../api/problem.ts';
import type { Webhook } from '../../../api/resources.ts';
import type { WebhookSettings } from '../../../api/webhooks.ts';
import { Button } from '../../../ui/button.tsx';
import { Card, Row } from '../../../ui/card.tsx';
import { Checkbox, CheckboxGroup, GroupError, TextField } from '../../../ui/field.tsx';
import { toggled } from '../../../ui/toggled.ts';
import { NotChanged } from '../not-changed.tsx';
import { text } from '../texts.ts';

const EXPLANATIONS = {
  'grant.revoked': 'eventRevoked',
  'grant.expired': 'eventExpired',
  'grant.narrowed': 'eventNarrowed',
  'grant.deletion_requested': 'eventDeletion',
  'data.updated': 'eventData',
} as const satisfies Record<WebhookEvent, string>;

interface Edits {
  readonly url?: string;
  readonly events?: ReadonlySet<WebhookEvent>;
}

/** The URL and the events. Input is kept when it is refused; untouched fields show the present values. */
export function EndpointForm({
  webhook,
  onSubmit,
  isPending,
  isSaved,
  error,
}: {
  readonly webhook: Webhook | null;
  readonly onSubmit: (settings: WebhookSettings) => void;
  readonly isPending: boolean;
  readonly isSaved: boolean;
  readonly error: unknown;
}) {
  const [edits, setEdits] = useState<Edits>({});
  const [isSubmitted, setSubmitted] = useState(false);
  const url = edits.url ?? webhook?.url ?? '';
  const events = edits.events ?? new Set(webhook?.events ?? WEBHOOK_EVENTS);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setSubmitted(true);
    if (events.size > 0)
      onSubmit({ url: url.trim(), events: WEBHOOK_EVENTS.filter((name) => events.has(name)) });
  };
  const edit = (part: Edits) => {
    setSubmitted(false);
    setEdits({ ...edits, ...part });
  };
  const isNothingChosen = isSubmitted && events.size === 0;
  const eventsError = isNothingChosen ? text('eventsMissing') : violationOf(error, 'events');
  return (
    <form onSubmit={submit}>
      <Card label={text('endpoint')}>
        <TextField
          label={text('url')}
          type="url"
          isRequired
          value={url}
          onChange={(value) => edit({ url: value })}
          error={violationOf(error, 'url')}
          hint={text('urlHint')}
        />
        <CheckboxGroup title={text('events')}>
          {WEBHOOK_EVENTS.map((name) => (
            <Checkbox
              key={name}
              isSelected={events.has(name)}
              onChange={(isSelected) => edit({ events: toggled(events, name, isSelected) })}
            >
              <code>{name}</code> {text(EXPLANATIONS[name])}
            </Checkbox>
          ))}
        </CheckboxGroup>
        {eventsError === undefined ? null : <GroupError>{eventsError}</GroupError>}
        <NotChanged error={error} unknown="hookChangeUnknown" />
        <Row>
          <Button kind={webhook === null ? 'primary' : 'plain'} type="submit" isBusy={isPending}>
            {text(webhook === null ? 'setUp' : 'save')}
          </Button>
          <span role="status">{isSaved && isSubmitted ? text('saved') : ''}</span>
        </Row>
      </Card>
    </form>
  );
}
