import { type FormEvent, useState } from 'react';
import { type KeySettings, useSettingsChange } from '../../api/developer-apps.ts';
import { violationOf } from '../../api/problem.ts';
import type { DeveloperApp } from '../../api/resources.ts';
import { Button, ButtonAnchor } from '../../ui/button.tsx';
import { Card, Row, Soft } from '../../ui/card.tsx';
import { Checkbox, TextField } from '../../ui/field.tsx';
import { focusInvalidField } from '../../ui/focus.ts';
import { Notice } from '../../ui/notice.tsx';
import { RadioChoice } from '../../ui/radio-choice.tsx';
import { formatInstant } from '../../ui/time.tsx';
import { docsOf } from './first-call.tsx';
import { NotChanged } from './not-changed.tsx';
import { type KeyFault, readPublicKeys } from './public-keys.ts';
import { text } from './texts.ts';

/** What gets tokens, and whether these are bound to a key. */
const METHODS = [
  { id: 'secret', effect: 'secretEffect', method: 'client_secret_basic', isBound: false },
  { id: 'secretBound', effect: 'secretBoundEffect', method: 'client_secret_basic', isBound: true },
  { id: 'key', effect: 'keyEffect', method: 'private_key_jwt', isBound: false },
  { id: 'keyBound', effect: 'keyBoundEffect', method: 'private_key_jwt', isBound: true },
  { id: 'pkce', effect: 'pkceEffect', method: 'none', isBound: false },
  { id: 'pkceBound', effect: 'pkceBoundEffect', method: 'none', isBound: true },
] as const;

type Method = (typeof METHODS)[number];

function isMethodOf(app: DeveloperApp, { method, isBound }: Method): boolean {
  return method === app.tokenEndpointAuthMethod && isBound === app.dpopBoundAccessTokens;
}

/** What an app can choose. A secret with bound tokens is shown for an app that has been given both, and is not offered to others. */
function methodsFor(app: DeveloperApp): readonly Method[] {
  return METHODS.filter((one) => {
    if (one.id === 'secretBound') return isMethodOf(app, one);
    return (one.method === 'none') === (app.applicationType === 'public');
  });
}

interface Edits {
  readonly method?: Method | undefined;
  readonly requirePushedAuthorizationRequests?: boolean;
  readonly keys?: string;
  readonly jwksUri?: string;
}

const NOTHING: Edits = {};

/** What differs from the app's settings; or what is wrong with the keys, so that a private one is not sent. */
function toSettings(
  { method, keys, jwksUri, ...flags }: Edits,
  app: DeveloperApp,
): Partial<KeySettings> | KeyFault {
  const read = keys === undefined ? null : readPublicKeys(keys);
  if (read !== null && 'fault' in read) return read.fault;
  const settings = {
    ...flags,
    ...read,
    ...(jwksUri === undefined ? {} : { jwksUri: jwksUri.trim() || null }),
  };
  if (method === undefined) return settings;
  const { method: tokenEndpointAuthMethod, isBound } = method;
  return {
    ...settings,
    ...(tokenEndpointAuthMethod === app.tokenEndpointAuthMethod ? {} : { tokenEndpointAuthMethod }),
    ...(isBound === app.dpopBoundAccessTokens ? {} : { dpopBoundAccessTokens: isBound }),
  };
}

/** How the app authenticates itself. Input is kept when it is refused; only what was edited is sent. */
export function Authentication({ app }: { readonly app: DeveloperApp }) {
  const change = useSettingsChange(app.clientId);
  const [edits, setEdits] = useState(NOTHING);
  const [fault, setFault] = useState<KeyFault>();
  const edit = (part: Edits) => {
    setFault(undefined);
    setEdits({ ...edits, ...part });
  };
  const send = (event: FormEvent) => {
    event.preventDefault();
    const settings = toSettings(edits, app);
    if (typeof settings === 'string') {
      setFault(settings);
      focusInvalidField();
    } else if (edits !== NOTHING) {
      const onSuccess = () => setEdits((present) => (present === edits ? NOTHING : present));
      change.mutate(settings, { onSuccess });
    }
  };
  const endsSecret =
    app.tokenEndpointAuthMethod === 'client_secret_basic' && edits.method?.method === 'private_key_jwt';
  return (
    <form onSubmit={send}>
      <Card label={text('authentication')}>
        <MethodChoice app={app} chosen={edits.method} onChange={(method) => edit({ method })} />
        {app.applicationType === 'server' ? (
          <Keys
            app={app}
            edits={edits}
            onChange={edit}
            errors={{
              keys: fault === undefined ? violationOf(change.error, 'jwks') : text(fault),
              jwksUri: violationOf(change.error, 'jwksUri'),
            }}
          />
        ) : null}
        <Checkbox
          isSelected={edits.requirePushedAuthorizationRequests ?? app.requirePushedAuthorizationRequests}
          onChange={(isSelected) => edit({ requirePushedAuthorizationRequests: isSelected })}
        >
          {text('requirePushedAuthorizationRequests')}
        </Checkbox>
        <NotChanged error={change.error} />
        {endsSecret ? (
          <Notice tone="warn">
            <span>{text('endSecretEffect')}</span>
          </Notice>
        ) : null}
        <Row>
          <Button kind={endsSecret ? 'danger' : 'primary'} type="submit" isBusy={change.isPending}>
            {text(endsSecret ? 'saveAndEndSecret' : 'save')}
          </Button>
          <span role="status">{change.isSuccess && edits === NOTHING ? text('saved') : ''}</span>
          <ButtonAnchor kind="quiet" href={docsOf(app)}>
            {text('keysGuide')}
          </ButtonAnchor>
        </Row>
      </Card>
    </form>
  );
}

function MethodChoice({
  app,
  chosen,
  onChange,
}: {
  readonly app: DeveloperApp;
  readonly chosen: Method | undefined;
  readonly onChange: (method: Method | undefined) => void;
}) {
  const offered = methodsFor(app);
  const { id, effect } = chosen ?? offered.find((one) => isMethodOf(app, one)) ?? METHODS[0];
  return (
    <>
      <RadioChoice
        label={text('authentication')}
        choices={offered.map((one) => ({ id: one.id, text: text(one.id) }))}
        value={id}
        onChange={(next) => onChange(offered.find((one) => one.id === next))}
      />
      <Soft>{text(effect)}</Soft>
    </>
  );
}

function Keys({
  app,
  edits,
  onChange,
  errors,
}: {
  readonly app: DeveloperApp;
  readonly edits: Edits;
  readonly onChange: (part: Edits) => void;
  readonly errors: { readonly keys: string | undefined; readonly jwksUri: string | undefined };
}) {
  return (
    <>
      <TextField
        label={text('publicKeys')}
        multiline
        value={edits.keys ?? (app.jwks === null ? '' : JSON.stringify(app.jwks, null, 2))}
        onChange={(keys) => onChange({ keys })}
        error={errors.keys}
        hint={text('publicKeysHint')}
      />
      <TextField
        label={text('jwksUri')}
        type="url"
        value={edits.jwksUri ?? app.jwksUri ?? ''}
        onChange={(jwksUri) => onChange({ jwksUri })}
        error={errors.jwksUri}
        hint={`${text('jwksUriHint')} ${fetchedText(app)}`}
      />
    </>
  );
}

/** What became of the last attempt to fetch the keys. */
function fetchedText({ jwksFetchedAt: at, jwksFailure: cause }: DeveloperApp): string {
  if (cause !== null) return text('jwksFailure', { cause });
  return at === null ? '' : text('jwksFetchedAt', { at: formatInstant(at) });
}
