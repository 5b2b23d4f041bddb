import { useReceipt } from '../../api/grants.ts';
import {
  approvalsOf,
  decodeReceipt,
  endOf,
  type ReceiptApproval,
  type ReceiptEvent,
} from '../../api/receipt.ts';
import type { SignedReceipt } from '../../api/resources.ts';
import { currentLocale } from '../../texts/language.ts';
import { Button } from '../../ui/button.tsx';
import { Facts, Soft, Stack } from '../../ui/card.tsx';
import { formatList } from '../../ui/formats.ts';
import { Notice } from '../../ui/notice.tsx';
import { Resource } from '../../ui/resource.tsx';
import { scopeTitle } from '../../ui/scopes.ts';
import { formatDate, formatInstant, Instant } from '../../ui/time.tsx';
import { WebLink } from '../../ui/web-link.tsx';
import style from './apps.module.css';
import { Rich, text } from './texts.ts';

const KEYS_PATH = '/.well-known/jwks.json';

/** The signed receipt of a connection in words, with its file. */
export function Receipt({ id }: { readonly id: string }) {
  const receipt = useReceipt(id);
  return (
    <Resource query={receipt}>
      {(signed) => {
        const read = readReceipt(signed);
        return (
          <Stack>
            {read === null ? (
              <Notice tone="warn">{text('receiptUnreadable')}</Notice>
            ) : (
              <ReadableReceipt {...read} />
            )}
            <div>
              <Button onPress={() => download(signed)}>{text('downloadReceipt')}</Button>
            </div>
          </Stack>
        );
      }}
    </Resource>
  );
}

/** Null for a receipt that is not as this page knows them. */
function readReceipt(signed: SignedReceipt) {
  try {
    const content = decodeReceipt(signed);
    const signedAt = formatInstant(new Date(content.iat * 1_000).toISOString());
    return { content, approvals: approvalsOf(content), signedAt };
  } catch {
    return null;
  }
}

function ReadableReceipt({ content, approvals, signedAt }: NonNullable<ReturnType<typeof readReceipt>>) {
  return (
    <>
      <Soft>{text('receiptAsOf', { when: signedAt })}</Soft>
      {approvals.map((approval, index) => (
        <Approval key={approval.event.event_time} approval={approval} isFirst={index === 0} />
      ))}
      <section aria-label={text('receiptEvents')}>
        <h3>{text('receiptEvents')}</h3>
        <ol className={style['items']}>
          {content.events.map((event) => (
            <li key={`${event.event_time} ${event.event_state}`}>
              <strong>{stateText(event.event_state)}</strong> <Instant at={event.event_time} />
              <Terms event={event} />
            </li>
          ))}
        </ol>
      </section>
      <Facts
        facts={[
          [text('receiptPerson'), content.pii_principal_id],
          [text('receiptId'), <code key="id">{content.record_id}</code>],
        ]}
      />
      <Soft>
        <Rich id="receiptSignatureText" components={{ keys: <PublicKeys /> }} />
      </Soft>
    </>
  );
}

/** One approval: the app as shown then, the terms, and what was shared in the words and the language of the screen. */
function Approval({
  approval: { event, shown },
  isFirst,
}: {
  readonly approval: ReceiptApproval;
  readonly isFirst: boolean;
}) {
  const { recipient, purpose, language, pii_information } = shown;
  const end = endOf(event);
  const title = text(isFirst ? 'receiptAgreed' : 'receiptAgreedAgain', {
    when: formatInstant(event.event_time),
  });
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      <Facts
        facts={[
          [text('app'), <bdi key="app">{recipient.party_name}</bdi>],
          [text('description'), wordsOf(recipient.party_description)],
          [text('developer'), wordsOf(recipient.party_developer)],
          [text('domain'), recipient.redirect_host],
          [text('website'), addressOf(recipient.party_url)],
          [text('privacyPolicy'), addressOf(recipient.privacy_notice)],
          [text('receiptWhy'), purpose === null ? text('none') : wordsOf(purpose)],
          [text('until'), end === null ? null : formatInstant(new Date(end).toISOString())],
          [text('dataShared'), datesText(event.pii_since)],
          [text('receiptLanguage'), languageName(language)],
        ]}
      />
      <ul className={style['items']} lang={language}>
        {pii_information.map(({ pii_type, pii_title, pii_description }) => (
          <li key={pii_type}>
            <strong>{pii_title}</strong> <small>{pii_description}</small>
          </li>
        ))}
      </ul>
    </section>
  );
}

function wordsOf(words: string | null) {
  return words === null ? null : <bdi className={style['words']}>{words}</bdi>;
}

function addressOf(url: string | null) {
  if (url === null) return null;
  return (
    <span className={style['target']}>
      <WebLink url={url}>{url}</WebLink>
    </span>
  );
}

/** How far back an app can look. */
export function datesText(firstDay: string | null): string {
  return firstDay === null ? text('allDates') : text('fromDay', { day: formatDate(firstDay) });
}

/** The name of a language in the page's language; its tag if the browser does not know it. */
function languageName(tag: string): string {
  try {
    return new Intl.DisplayNames(currentLocale(), { type: 'language' }).of(tag) ?? tag;
  } catch {
    return tag;
  }
}

function PublicKeys({ children }: { readonly children?: React.ReactNode }) {
  return (
    <a href={KEYS_PATH} target="_blank" rel="noopener">
      {children}
    </a>
  );
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

/** The kind of an event; its own name for kinds of later releases. */
function stateText(state: string): string {
  const id = TEXTS.get(state as 'given');
  return id === undefined ? state : text(id);
}

/** The terms after an event; nothing after one that is not about terms. */
function Terms({ event }: { readonly event: ReceiptEvent }) {
  const end = endOf(event);
  if (event.pii_types.length === 0 || end === null) return null;
  const types = formatList(event.pii_types.map(scopeTitle));
  const terms = { types, end: formatInstant(new Date(end).toISOString()), dates: datesText(event.pii_since) };
  return <Soft>{text('eventTerms', terms)}</Soft>;
}

/** Saves the receipt that is shown, with its signature. */
function download(signed: SignedReceipt): void {
  const content = new Blob([JSON.stringify(signed, null, 2)], { type: 'application/json' });
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = `consent-receipt-${signed.grantId}.json`;
  link.click();
  URL.revokeObjectURL(url);
}
