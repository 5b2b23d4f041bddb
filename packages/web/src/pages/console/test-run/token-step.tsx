import { isSandboxApp } from '@phds/catalog/sandbox';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useRef, useState } from 'react';
import { answerOf, api } from '../../../api/client.ts';
import { isRefusal } from '../../../api/problem.ts';
import type { Tokens } from '../../../api/resources.ts';
import { Button, ButtonAnchor } from '../../../ui/button.tsx';
import { Card, Row, Soft } from '../../../ui/card.tsx';
import { TextField } from '../../../ui/field.tsx';
import { ErrorNotice, Notice } from '../../../ui/notice.tsx';
import { Rich, text } from '../texts.ts';
import { type ReturnedRun, testRunUri } from './test-run.ts';

/** Step 2: exchanges the code for tokens with the app's secret. */
export function TokenStep({
  returned: { run, code, error },
  tokens,
  onTokens,
}: {
  readonly returned: ReturnedRun;
  readonly tokens: Tokens | null;
  readonly onTokens: (tokens: Tokens) => void;
}) {
  const [secret, setSecret] = useState('');
  const isSent = useRef(false);
  const exchange = useMutation({
    mutationFn: () =>
      answerOf(
        api.POST('/oauth/token', {
          body: {
            grant_type: 'authorization_code',
            code: code ?? '',
            code_verifier: run?.verifier ?? '',
            redirect_uri: testRunUri(),
            client_id: run?.clientId ?? '',
            client_secret: secret,
          },
        }),
      ),
    onSuccess: onTokens,
    onError: (failure) => {
      isSent.current = !isRefusal(failure);
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isSent.current) return;
    isSent.current = true;
    exchange.mutate();
  };
  const isSandbox = run !== null && isSandboxApp(run.clientId);
  if (code === null || run === null) return <NoCode error={error} isSandbox={isSandbox} />;
  return (
    <form onSubmit={submit}>
      <Card label={text('tokenStep')}>
        <h2>{text('tokenStep')}</h2>
        {tokens === null ? (
          <>
            <Soft>
              <Rich id="tokenDetail" components={{ state: <code />, request: <code /> }} />
            </Soft>
            <TextField
              label={text('clientSecret')}
              type="password"
              value={secret}
              onChange={setSecret}
              isRequired
            />
            {exchange.error === null ? null : <NoTokens error={exchange.error} />}
            {exchange.error === null || isRefusal(exchange.error) ? (
              <Row>
                <Button kind="primary" type="submit" isBusy={exchange.isPending} isDisabled={secret === ''}>
                  {text('getTokens')}
                </Button>
              </Row>
            ) : null}
          </>
        ) : (
          <p role="status">
            <Rich
              id="tokensFor"
              values={{ scope: tokens.scope, minutes: Math.round(tokens.expires_in / 60) }}
              components={{ scope: <code /> }}
            />
          </p>
        )}
      </Card>
    </form>
  );
}

/** Sending a code twice revokes its tokens, so it is sent again only after a refusal. */
function NoTokens({ error }: { readonly error: unknown }) {
  if (isRefusal(error)) return <ErrorNotice error={error} title={text('noTokens')} isOwn={false} />;
  return (
    <>
      <ErrorNotice error={error} title={text('codeUnknown')} isOwn={false} />
      <Row>
        <ButtonAnchor href="/console/test-run">{text('startAgain')}</ButtonAnchor>
      </Row>
    </>
  );
}

function NoCode({ error, isSandbox }: { readonly error: string | null; readonly isSandbox: boolean }) {
  const declined = isSandbox ? 'personDeclined' : 'declined';
  return (
    <Notice tone="warn">
      <strong>{text(error === 'access_denied' ? declined : 'noCode')}</strong>
      <span>{text(error === 'access_denied' ? 'declinedDetail' : 'noCodeDetail')}</span>
      <Row>
        <ButtonAnchor href="/console/test-run">{text('startAgain')}</ButtonAnchor>
      </Row>
    </Notice>
  );
}
