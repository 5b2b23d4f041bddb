import { endOf, type ReceiptEvent } from '../../api/receipt.ts';
import { Card, Soft } from '../../ui/card.tsx';
import { formatList } from '../../ui/formats.ts';
import { scopeTitle } from '../../ui/scopes.ts';
import { formatInstant, Instant } from '../../ui/time.tsx';
import style from './apps.module.css';
import { datesText } from './terms-text.ts';
import { text } from './texts.ts';

const TEXTS = new Map([
  ['given', 'eventGiven'],
  ['narrowed', 'eventNarrowed'],
  ['withdrawn', 'eventWithdrawn'],
  ['expired', 'eventExpired'],
  ['ended by the app', 'eventEndedByApp'],
  ['terminated', 'eventTerminated'],
  ['deletion requested', 'eventDeletionRequested'],
] as const);

/** Everything that happened, oldest first, with the terms after it. */
export function ReceiptEvents({ events }: { readonly events: readonly ReceiptEvent[] }) {
  return (
    <Card label={text('receiptEvents')}>
      <h2>{text('receiptEvents')}</h2>
      <ol className={style['list']}>
        {events.map((event) => (
          <li key={`${event.event_time} ${event.event_state}`}>
            <div className={style['event']}>
              <strong>{stateText(event.event_state)}</strong>
              <Terms event={event} />
            </div>
            <Soft>
              <Instant at={event.event_time} />
            </Soft>
          </li>
        ))}
      </ol>
    </Card>
  );
}

/** The kind of an event; its own name for kinds of later releases. */
function stateText(state: string): string {
  const id = TEXTS.get(state as 'given');
  return id === undefined ? state : text(id);
}

function Terms({ event }: { readonly event: ReceiptEvent }) {
  const end = endOf(event);
  if (event.pii_types.length === 0 || end === null) return null;
  const items = formatList(event.pii_types.map(scopeTitle));
  const terms = { items, end: formatInstant(new Date(end).toISOString()), dates: datesText(event.pii_since) };
  return <Soft>{text('eventTerms', terms)}</Soft>;
}
