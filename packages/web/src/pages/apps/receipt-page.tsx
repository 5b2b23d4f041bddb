import { Link } from 'wouter';
import { useReceipt } from '../../api/grants.ts';
import { approvalsOf, decodeReceipt, endOf, type Receipt, type ReceiptEvent } from '../../api/receipt.ts';
import type { SignedReceipt } from '../../api/resources.ts';
import { Button } from '../../ui/button.tsx';
import { Card, Facts, Row, Soft, Stack } from '../../ui/card.tsx';
import { formatList } from '../../ui/formats.ts';
import { Narrow, PageHeading } from '../../ui/layout.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Resource } from '../../ui/resource.tsx';
import { scopeTitle } from '../../ui/scopes.ts';
import { formatInstant, Instant } from '../../ui/time.tsx';
import style from './apps.module.css';
import { NoSuchConnection } from './connected-app-page.tsx';
import { ReceiptApproval } from './receipt-approval.tsx';
import { datesText } from './terms-text.ts';
import { Rich, text } from './texts.ts';

const KEYS_PATH = '/.well-known/jwks.json';

/** The signed receipt of a connection in words, to read, print and download. */
export function ReceiptPage({ id }: { readonly id: string }) {
  const receipt = useReceipt(id);
  return (
    <Narrow>
      <Resource query={receipt} notFound={<NoSuchConnection />}>
        {(signed) => {
          const content = readReceipt(signed);
          return content === null ? (
            <UnreadableReceipt signed={signed} />
          ) : (
            <ReadableReceipt signed={signed} receipt={content} />
          );
        }}
      </Resource>
    </Narrow>
  );
}

function readReceipt(signed: SignedReceipt): Receipt | null {
  try {
    return decodeReceipt(signed);
  } catch {
    return null;
  }
}

/** Offers the file of a receipt that this page does not understand. */
function UnreadableReceipt({ signed }: { readonly signed: SignedReceipt }) {
  return (
    <>
      <PageHeading title={text('receiptUnreadable')} />
      <Stack>
        <Notice tone="warn">{text('receiptUnreadableText')}</Notice>
        <Row>
          <Button onPress={() => download(signed)}>{text('downloadReceipt')}</Button>
          <span className={style['target']}>
            <Link href="/apps">{text('title')}</Link>
          </span>
        </Row>
      </Stack>
    </>
  );
}

function ReadableReceipt({ signed, receipt }: { readonly signed: SignedReceipt; readonly receipt: Receipt }) {
  const approvals = approvalsOf(receipt);
  const app = approvals.at(-1)?.shown.recipient.party_name ?? '';
  const when = formatInstant(new Date(receipt.iat * 1_000).toISOString());
  return (
    <>
      <PageHeading title={text('receiptTitle', { app })} lead={text('receiptLead', { when })} />
      <Stack>
        <div className={style['screenOnly']}>
          <Row>
            <Button onPress={() => download(signed)}>{text('downloadReceipt')}</Button>
            <Button onPress={() => print()}>{text('print')}</Button>
            <span className={style['target']}>
              <Link href={`/apps/${signed.grantId}`}>{text('backToApp', { app })}</Link>
            </span>
          </Row>
        </div>
        {approvals.map((approval, index) => (
          <ReceiptApproval key={approval.event.event_time} approval={approval} isFirst={index === 0} />
        ))}
        <ReceiptEvents events={receipt.events} />
        <Signature receipt={receipt} />
      </Stack>
    </>
  );
}

function Signature({ receipt: { pii_principal_id, record_id } }: { readonly receipt: Receipt }) {
  return (
    <Card label={text('receiptSignature')}>
      <h2>{text('receiptSignature')}</h2>
      <Facts
        facts={[
          [text('receiptPerson'), pii_principal_id],
          [text('receiptId'), <code key="id">{record_id}</code>],
        ]}
      />
      <Soft>
        <Rich id="receiptSignatureText" components={{ keys: <PublicKeys /> }} />
      </Soft>
    </Card>
  );
}

function PublicKeys({ children }: { readonly children?: React.ReactNode }) {
  return (
    <a href={KEYS_PATH} target="_blank" rel="noopener">
      {children}
    </a>
  );
}

/** Saves the receipt that is shown, with its signature. */
function download(signed: SignedReceipt): void {
  const content = new Blob([JSON.stringify(signed, null, 2)], { type: 'application/json' });
  saveFile(`consent-receipt-${signed.grantId}.json`, content);
}

const TEXTS = new Map([
  ['given', 'eventGiven'],
  ['narrowed', 'eventNarrowed'],
  ['withdrawn', 'eventWithdrawn'],
  ['expired', 'eventExpired'],
  ['ended by the app', 'eventEndedByApp'],
  ['ended by an operator of the service', 'eventEndedByOperator'],
  ['terminated', 'eventTerminated'],
  ['deletion requested', 'eventDeletionRequested'],
] as const);

/** Everything that happened, oldest first, with the terms after it. */
function ReceiptEvents({ events }: { readonly events: readonly ReceiptEvent[] }) {
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

/** Starts the download of a file. */
function saveFile(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
