import { type FormEvent, useState } from 'react';
import type { Failure } from '../../api/change.ts';
import { type KeySettings, useSettingsChange } from '../../api/developer-apps.ts';
import { faultText, violationOf } from '../../api/problem.ts';
import type { DeveloperApp } from '../../api/resources.ts';
import { Button, ButtonAnchor } from '../../ui/button.tsx';
import { Card, Facts, Row, Soft, Stack } from '../../ui/card.tsx';
import { ChangeNotice } from '../../ui/change-notice.tsx';
import { Confirmation } from '../../ui/confirmation.tsx';
import { Checkbox, TextField } from '../../ui/field.tsx';
import { focusHeading, focusInvalidField } from '../../ui/focus.ts';
import { Table } from '../../ui/table.tsx';
import { formatInstant } from '../../ui/time.tsx';
import { docsOf } from './first-call.tsx';
import { readPublicKeys } from './public-keys.ts';
import { text } from './texts.ts';

const TYPES = { server: 'typeServer', public: 'typePublic' } as const;

/** How an app authenticates itself, its keys, and what its tokens are bound to. */
export function KeysAndTokens({ app }: { readonly app: DeveloperApp }) {
  return (
    <Card label={text('keysAndTokens')}>
      <h2>{text('keysAndTokens')}</h2>
      <Facts
        facts={[
          [text('applicationType'), text(TYPES[app.applicationType])],
          [text('authentication'), text(authenticationOf(app))],
        ]}
      />
      {app.applicationType === 'server' ? <Keys app={app} /> : null}
      <KeyForm app={app} />
      {app.applicationType === 'server' ? <Switches app={app} /> : null}
      <Row>
        <ButtonAnchor kind="quiet" href={docsOf(app)}>
          {text('keysGuide')}
        </ButtonAnchor>
      </Row>
    </Card>
  );
}

function authenticationOf({ tokenEndpointAuthMethod: method, jwks }: DeveloperApp) {
  if (method === 'none') return 'authenticationNone';
  if (method === 'private_key_jwt') return 'authenticationKey';
  return jwks === null ? 'authenticationSecret' : 'authenticationBoth';
}

/** By curve, or by the type of a key without one. An RSA key may be used with either algorithm. */
const ALGORITHMS: Readonly<Record<string, string>> = {
  'P-256': 'ES256',
  'P-384': 'ES384',
  Ed25519: 'EdDSA',
  RSA: 'PS256, RS384',
};

function Keys({ app: { jwks } }: { readonly app: DeveloperApp }) {
  if (jwks === null) return <Soft>{text('noKeys')}</Soft>;
  const rows = jwks.keys.map((key, index) => {
    const { kid, kty, crv = kty, alg = ALGORITHMS[String(crv)] } = key;
    return { id: String(index), kid: kid ?? '–', alg };
  });
  return (
    <Table
      caption={text('keys')}
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        { title: text('keyId'), cell: ({ kid }) => <code>{String(kid)}</code> },
        { title: text('algorithm'), cell: ({ alg }) => String(alg) },
      ]}
    />
  );
}

const FLAGS = ['dpopBoundAccessTokens', 'requirePushedAuthorizationRequests'] as const;

type Edits = Partial<Pick<KeySettings, (typeof FLAGS)[number]>> & {
  readonly keys?: string;
  readonly jwksUri?: string;
};

const NOTHING: Edits = {};

/** Input is kept when it is refused; only what was edited is sent. Keys are checked first, so that a private one is not sent. */
function KeyForm({ app }: { readonly app: DeveloperApp }) {
  const change = useSettingsChange(app.clientId);
  const [edits, setEdits] = useState(NOTHING);
  const [fault, setFault] = useState<'keysPrivate' | 'keysUnreadable'>();
  const edit = (part: Edits) => {
    setFault(undefined);
    setEdits({ ...edits, ...part });
  };
  const send = (event: FormEvent) => {
    event.preventDefault();
    const { keys, jwksUri, ...flags } = edits;
    const place = jwksUri === undefined ? null : { jwksUri: jwksUri.trim() || null };
    const read = keys === undefined ? null : readPublicKeys(keys);
    if (read !== null && 'fault' in read) {
      setFault(read.fault);
      focusInvalidField();
    } else if (edits !== NOTHING) {
      const onSuccess = () => setEdits((present) => (present === edits ? NOTHING : present));
      change.mutate({ ...flags, ...read, ...place }, { onSuccess });
    }
  };
  return (
    <form onSubmit={send}>
      <Stack>
        {app.applicationType === 'server' ? (
          <>
            <TextField
              label={text('publicKeys')}
              multiline
              value={edits.keys ?? (app.jwks === null ? '' : JSON.stringify(app.jwks, null, 2))}
              onChange={(keys) => edit({ keys })}
              error={fault === undefined ? violationOf(change.failure?.error, 'jwks') : text(fault)}
              hint={text('publicKeysHint')}
            />
            <TextField
              label={text('jwksUri')}
              type="url"
              value={edits.jwksUri ?? app.jwksUri ?? ''}
              onChange={(jwksUri) => edit({ jwksUri })}
              error={violationOf(change.failure?.error, 'jwksUri')}
              hint={
                <>
                  {text('jwksUriHint')} <Fetched app={app} />
                </>
              }
            />
          </>
        ) : null}
        {FLAGS.map((name) => (
          <Checkbox
            key={name}
            isSelected={edits[name] ?? app[name]}
            onChange={(isSelected) => edit({ [name]: isSelected })}
          >
            {text(name)}
          </Checkbox>
        ))}
        <NotSaved failure={change.failure} />
        <Row>
          <Button type="submit" isBusy={change.isPending}>
            {text('saveKeys')}
          </Button>
          <span role="status">{change.isSuccess && edits === NOTHING ? text('saved') : ''}</span>
        </Row>
      </Stack>
    </form>
  );
}

/** What became of the last attempt to fetch the keys. */
function Fetched({ app: { jwksFetchedAt: at, jwksFailure: cause } }: { readonly app: DeveloperApp }) {
  if (cause !== null) return text('jwksFailure', { cause: faultText(cause) });
  return at === null ? null : text('jwksFetchedAt', { at: formatInstant(at) });
}

function NotSaved({ failure }: { readonly failure: Failure | null }) {
  return (
    <ChangeNotice
      failure={failure}
      undone={text('notSaved')}
      unknown={text('settingsUnknown')}
      advice={text('settingsAdvice')}
    />
  );
}

/** From the secret to the keys alone, and back. */
function Switches({ app }: { readonly app: DeveloperApp }) {
  const change = useSettingsChange(app.clientId);
  // Each change removes the button that was pressed.
  const set = (tokenEndpointAuthMethod: KeySettings['tokenEndpointAuthMethod']) =>
    change.mutate({ tokenEndpointAuthMethod }, { onSuccess: focusHeading });
  const isByKey = app.tokenEndpointAuthMethod === 'private_key_jwt';
  return (
    <Stack>
      <NotSaved failure={change.failure} />
      <Row>
        {isByKey ? (
          <Button isBusy={change.isPending} onPress={() => set('client_secret_basic')}>
            {text('allowSecret')}
          </Button>
        ) : null}
        {isByKey || app.jwks === null ? null : (
          <Confirmation
            trigger={text('endSecret')}
            title={text('endSecretTitle')}
            confirm={text('endSecret')}
            isBlocked={change.isPending}
            onConfirm={() => set('private_key_jwt')}
          >
            <p>{text('endSecretEffect')}</p>
          </Confirmation>
        )}
      </Row>
    </Stack>
  );
}
