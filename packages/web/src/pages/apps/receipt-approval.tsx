import { type ReceiptApproval as Approval, endOf, type ReceiptPurpose } from '../../api/receipt.ts';
import { currentLocale } from '../../texts/language.ts';
import { Card, Facts } from '../../ui/card.tsx';
import { formatDay, formatInstant, Instant } from '../../ui/time.tsx';
import { WebLink } from '../../ui/web-link.tsx';
import style from './apps.module.css';
import { datesText } from './terms-text.ts';
import { Rich, text } from './texts.ts';

/** One approval: the app as shown then, the terms, and what was shared in the words and the language of the screen. */
export function ReceiptApproval({
  approval: { event, shown },
  isFirst,
}: {
  readonly approval: Approval;
  readonly isFirst: boolean;
}) {
  const { recipient, purpose, language } = shown;
  const end = endOf(event);
  const when = <Instant at={event.event_time} />;
  return (
    <Card
      label={text(isFirst ? 'receiptAgreed' : 'receiptAgreedAgain', { when: formatDay(event.event_time) })}
    >
      <h2>
        <Rich id={isFirst ? 'receiptAgreed' : 'receiptAgreedAgain'} values={{ when }} />
      </h2>
      <Facts
        facts={[
          [text('app'), <bdi key="app">{recipient.party_name}</bdi>],
          [text('description'), wordsOf(recipient.party_description)],
          [text('developer'), wordsOf(recipient.party_developer)],
          [text('domain'), recipient.redirect_host],
          [text('website'), addressOf(recipient.party_url)],
          [text('privacyPolicy'), addressOf(recipient.privacy_notice)],
          [
            text('receiptWhy'),
            purpose === null ? (
              text('none')
            ) : (
              <q key="why">
                <bdi>{purpose}</bdi>
              </q>
            ),
          ],
          [text('until'), end === null ? null : formatInstant(new Date(end).toISOString())],
          [text('dataShared'), datesText(event.pii_since)],
          [text('receiptLanguage'), languageName(language)],
        ]}
      />
      <h3>{text('receiptItems')}</h3>
      <Items shown={shown} />
    </Card>
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

/** The shared items in the shown words. */
function Items({ shown: { language, pii_information } }: { readonly shown: ReceiptPurpose }) {
  return (
    <ul className={style['items']} lang={language}>
      {pii_information.map(({ pii_type, pii_title, pii_description }) => (
        <li key={pii_type}>
          <strong>{pii_title}</strong>
          <span className={style['domain']}>{pii_description}</span>
        </li>
      ))}
    </ul>
  );
}

/** The name of a language in the page's language; its tag if the browser does not know it. */
function languageName(tag: string): string {
  try {
    return new Intl.DisplayNames(currentLocale(), { type: 'language' }).of(tag) ?? tag;
  } catch {
    return tag;
  }
}
