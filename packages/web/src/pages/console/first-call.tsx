import { usesSecretAlone } from '../../api/developer-apps.ts';
import type { DeveloperApp } from '../../api/resources.ts';
import { Card, Soft, Stack } from '../../ui/card.tsx';
import { Code } from '../../ui/code.tsx';
import { linkTo } from '../../ui/web-link.tsx';
import { Rich, text } from './texts.ts';

/** The commands from authorization to data for this app, or where those of an app with a key are. */
export function FirstCall({ app }: { readonly app: DeveloperApp }) {
  return (
    <Card label={text('firstCall')}>
      <h2>{text('firstCall')}</h2>
      {usesSecretAlone(app) ? (
        <>
          {toSteps(app, location.origin).map(({ title, command }) => (
            <Stack key={title} tight>
              <p>{title}</p>
              <Code text={command} label={title} />
            </Stack>
          ))}
          <Soft>
            <Rich
              id="firstCallAdvice"
              values={{ base: `${location.origin}/fhir/R4` }}
              components={linkTo('/docs/fhir')}
            />
          </Soft>
        </>
      ) : (
        <Soft>
          <Rich id="firstCallSigned" components={linkTo(docsOf(app))} />
        </Soft>
      )}
    </Card>
  );
}

/** The page of the documentation about apps that sign. */
export function docsOf({ applicationType: type }: DeveloperApp): string {
  return type === 'server' ? '/docs/sender-constrained' : '/docs/public-apps';
}

const VERIFIER = `code_verifier=$(openssl rand -hex 32)
code_challenge=$(printf %s "$code_verifier" | openssl dgst -sha256 -binary | openssl base64 | tr '+/' '-_' | tr -d '=')
`;
const CHALLENGE = ' \\\n  -d code_challenge="$code_challenge" -d code_challenge_method=S256';

/**
 * Commands for a POSIX shell, from the authorization request to the first read. The secret is entered into a variable, so it is not
 * in the shell history.
 */
function toSteps(app: DeveloperApp, origin: string) {
  const redirectUri = app.redirectUris[0] ?? '';
  const scope = app.scopes.find((name) => name.startsWith('read:health-data:')) ?? app.scopes[0] ?? '';
  const credentials = `-d client_id=${app.clientId} -d client_secret="$CLIENT_SECRET"`;
  const redirection = `--data-urlencode ${quote(`redirect_uri=${redirectUri}`)}`;
  const [verifier, challenge, proof] = app.requirePkce
    ? [VERIFIER, CHALLENGE, ' -d code_verifier="$code_verifier"']
    : ['', '', ''];
  return [
    {
      title: text('stepAsk'),
      command: `${verifier}curl -s ${origin}/oauth/authorize \\
  ${credentials} \\
  ${redirection} -d scope=${scope} -d state=xyz${challenge}`,
    },
    {
      title: text('stepCode', { callback: toCallback(redirectUri) }),
      command: `curl -s ${origin}/oauth/token \\
  -d grant_type=authorization_code -d code="$CODE"${proof} \\
  ${credentials} \\
  ${redirection}`,
    },
    {
      title: text('stepRead'),
      command: `curl -s ${origin}${toPath(scope)} \\
  -H "Authorization: Bearer $ACCESS_TOKEN"`,
    },
  ];
}

function toPath(scope: string): string {
  const [, kind, category] = scope.split(':');
  return category === undefined ? `/api/v1/${kind}` : `/api/v1/health-data/${category}`;
}

/** The redirect URI with a code, keeping its existing query. */
function toCallback(redirectUri: string): string {
  return `${redirectUri}${redirectUri.includes('?') ? '&' : '?'}code=…&state=xyz`;
}

/** Quotes a text as one shell word. */
function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
