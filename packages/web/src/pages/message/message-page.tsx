import type { PageMessage, PageMessageCode, WayBack } from '@phds/catalog/page-messages';
import { ButtonAnchor, ButtonLink } from '../../ui/button.tsx';
import { Soft } from '../../ui/card.tsx';
import { Narrow } from '../../ui/layout.tsx';
import { EmptyPage } from '../../ui/notice.tsx';
import { linkTo } from '../../ui/web-link.tsx';
import { Rich, text } from './texts.ts';

const TEXTS = {
  SIGN_IN_NOT_SET_UP: { title: 'notSetUpTitle', words: 'notSetUp' },
  SIGN_IN_ENDED: { title: 'endedTitle', words: 'ended' },
  SIGN_IN_REFUSED: { title: 'refusedTitle', words: 'refused' },
  SIGN_IN_UNAVAILABLE: { title: 'signInUnavailableTitle', words: 'signInUnavailable' },
  SIGN_IN_FAILED: { title: 'failedTitle', words: 'failed' },
  SIGN_IN_TOKEN_TOO_LONG: { title: 'failedTitle', words: 'tokenTooLong' },
  SIGN_INS_LIMITED: { title: 'tryAgainTitle', words: 'signInsLimited' },
  AUTHORIZATION_LINK_INVALID: { title: 'linkTitle', words: 'link' },
  AUTHORIZATION_REFUSED: { title: 'mistakeTitle', words: 'mistake' },
  AUTHORIZATION_UNAVAILABLE: { title: 'tryAgainTitle', words: 'unavailable' },
  DOCUMENTATION_NOT_READY: { title: 'documentationTitle', words: 'documentation' },
} as const satisfies Record<PageMessageCode, unknown>;

/** What the gateway has to say in place of a page, such as why an app's link or a sign-in did not work. */
export function MessagePage({ message }: { readonly message: PageMessage }) {
  const { code, signIn, wayBack, error, requestId } = message;
  const { title, words } = TEXTS[code];
  return (
    <Narrow>
      <EmptyPage title={text(title)}>
        <p>{text(words)}</p>
        {wayBack === undefined ? null : <BackToApp wayBack={wayBack} />}
        {signIn === undefined ? null : (
          <ButtonAnchor kind="primary" href={signIn}>
            {code === 'SIGN_IN_ENDED' ? text('signInAgain') : text('tryAgain')}
          </ButtonAnchor>
        )}
        {code === 'AUTHORIZATION_LINK_INVALID' ? <LinkFaults /> : null}
        {wayBack === undefined ? <ButtonLink to="/">{text('toStart')}</ButtonLink> : null}
        <Soft>
          <Rich
            id={requestId === undefined ? 'code' : 'codeAndRequest'}
            values={{ code: error ?? code, request: requestId ?? '' }}
            components={{ code: <code /> }}
          />
        </Soft>
      </EmptyPage>
    </Narrow>
  );
}

/** The link to the app, and why the person should know its address. */
function BackToApp({ wayBack: { url, host, isStranger } }: { readonly wayBack: WayBack }) {
  return (
    <>
      <p>
        <Rich
          id={isStranger ? 'leadsToStranger' : 'leadsTo'}
          values={{ host }}
          components={{ host: <strong /> }}
        />
      </p>
      <ButtonAnchor href={url} rel="noreferrer">
        {text('returnTo', { host })}
      </ButtonAnchor>
    </>
  );
}

function LinkFaults() {
  return (
    <>
      <h2>{text('forDeveloper')}</h2>
      <p>
        <Rich id="linkFaults" components={{ code: <code />, console: linkTo('/console').link }} />
      </p>
    </>
  );
}
