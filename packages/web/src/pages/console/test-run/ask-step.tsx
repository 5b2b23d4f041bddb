import { SANDBOX_PERSON_DEFAULT } from '@phds/catalog/sandbox';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import type { Failure } from '../../../api/change.ts';
import { answerOf, api } from '../../../api/client.ts';
import { useSettingsChange } from '../../../api/developer-apps.ts';
import { isRefusal } from '../../../api/problem.ts';
import type { DeveloperApp } from '../../../api/resources.ts';
import { Button } from '../../../ui/button.tsx';
import { Card, Row, Soft } from '../../../ui/card.tsx';
import { ChangeNotice } from '../../../ui/change-notice.tsx';
import { Select } from '../../../ui/field.tsx';
import { ErrorNotice, Notice } from '../../../ui/notice.tsx';
import { scopeTitle } from '../../../ui/scopes.ts';
import { Rich, text } from '../texts.ts';
import { PersonChoice } from './person-choice.tsx';
import { startRun, testRunUri } from './test-run.ts';

/** Step 1: the app requests a scope, and the browser goes to the approval screen. */
export function AskStep({ apps }: { readonly apps: readonly DeveloperApp[] }) {
  const [clientId, setClientId] = useState(apps[0]?.clientId ?? '');
  const app = apps.find((candidate) => candidate.clientId === clientId);
  const [chosen, setChosen] = useState('');
  const [person, setPerson] = useState<string>(SANDBOX_PERSON_DEFAULT);
  const scope = app?.scopes.find((name) => name === chosen) ?? app?.scopes[0] ?? '';
  if (app === undefined) return null;
  return (
    <Card label={text('askStep')}>
      <h2>{text('askStep')}</h2>
      <Select
        label={text('askApp')}
        value={clientId}
        onChange={setClientId}
        options={apps.map(({ clientId: id, name }) => ({ id, text: name }))}
      />
      <Select
        label={text('askScope')}
        value={scope}
        onChange={setChosen}
        options={app.scopes.map((name) => ({ id: name, text: scopeTitle(name) }))}
      />
      {app.environment === 'sandbox' ? (
        <PersonChoice person={person} onChange={setPerson} />
      ) : (
        <Soft>
          <Rich id="askOwnData" components={{ link: <Link href="/console/new" /> }} />
        </Soft>
      )}
      <Soft>
        <Rich id="askDetail" components={{ request: <code />, uri: <code /> }} />
      </Soft>
      <Asking key={clientId} app={app} scope={scope} person={app.environment === 'sandbox' ? person : null} />
    </Card>
  );
}

/** The request of one app. */
function Asking({
  app,
  scope,
  person,
}: {
  readonly app: DeveloperApp;
  readonly scope: string;
  /** The made-up person who decides; null for a live app. */
  readonly person: string | null;
}) {
  const { clientId, redirectUris } = app;
  const allowing = useSettingsChange(clientId);
  const asking = useMutation({
    mutationFn: ask,
    onSuccess: ({ approval_uri }) => location.assign(approval_uri),
  });
  if (!redirectUris.includes(testRunUri())) {
    return (
      <AllowThisPage
        failure={allowing.failure}
        isPending={allowing.isPending}
        onAllow={() => allowing.mutate({ redirectUris: [...redirectUris, testRunUri()] })}
      />
    );
  }
  return (
    <>
      {asking.error === null ? null : (
        <ErrorNotice
          error={asking.error}
          title={isRefusal(asking.error) ? text('requestRefused') : text('requestUnanswered')}
          isOwn={false}
        />
      )}
      <Row>
        <Button
          kind="primary"
          autoFocus={!allowing.isIdle}
          isBusy={asking.isPending}
          onPress={() => asking.mutate({ clientId, scope, person })}
        >
          {text('ask')}
        </Button>
      </Row>
    </>
  );
}

async function ask({
  clientId,
  scope,
  person,
}: {
  clientId: string;
  scope: string;
  person: string | null;
}): Promise<{ approval_uri: string }> {
  const { state, challenge } = await startRun(clientId);
  const body = {
    client_id: clientId,
    redirect_uri: testRunUri(),
    scope,
    state,
    response_type: 'code',
    code_challenge: challenge,
    code_challenge_method: 'S256',
    ...(person === null ? {} : { login_hint: person }),
  } as const;
  return answerOf(api.POST('/oauth/authorize', { body }));
}

/** The approval screen redirects to registered URIs only. */
function AllowThisPage({
  failure,
  isPending,
  onAllow,
}: {
  readonly failure: Failure | null;
  readonly isPending: boolean;
  readonly onAllow: () => void;
}) {
  return (
    <Notice tone="warn">
      <span>
        <Rich id="addressMissing" values={{ uri: testRunUri() }} components={{ uri: <code /> }} />
      </span>
      <ChangeNotice
        failure={failure}
        undone={text('addressNotAdded')}
        unknown={text('addressUnknown')}
        advice={text('addressAdvice')}
      />
      <Row>
        <Button onPress={onAllow} isBusy={isPending}>
          {text('addAddress')}
        </Button>
      </Row>
    </Notice>
  );
}
