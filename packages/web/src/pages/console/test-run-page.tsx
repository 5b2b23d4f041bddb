import { useEffect, useState } from 'react';
import { useAllApps, usesSecretAlone } from '../../api/developer-apps.ts';
import type { Tokens } from '../../api/resources.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { Stack } from '../../ui/card.tsx';
import { Narrow, PageHeading } from '../../ui/layout.tsx';
import { Empty } from '../../ui/notice.tsx';
import { Resource } from '../../ui/resource.tsx';
import { AskStep } from './test-run/ask-step.tsx';
import { ReadStep } from './test-run/read-step.tsx';
import { forgetReturn, keepGrant, readReturn } from './test-run/test-run.ts';
import { TokenStep } from './test-run/token-step.tsx';
import { text } from './texts.ts';

/** The flow from authorization to data, step by step, with the developer's own app and data. */
export function TestRunPage() {
  const [returned] = useState(readReturn);
  const [tokens, setTokens] = useState<Tokens | null>(null);
  const apps = useAllApps();
  const keepTokens = (issued: Tokens) => {
    setTokens(issued);
    keepGrant(returned?.run?.clientId ?? '', issued.grant_id ?? '');
  };
  useEffect(forgetReturn, []);
  return (
    <Narrow>
      <PageHeading title={text('tryFlow')} lead={text('flowLead')} />
      <Resource query={apps}>
        {(found) => {
          const active = found.filter(
            (app) =>
              app.status === 'active' && usesSecretAlone(app) && !app.requirePushedAuthorizationRequests,
          );
          if (active.length === 0) {
            return (
              <Empty title={text('noActiveApp')}>
                <ButtonLink to="/console/new">{text('register')}</ButtonLink>
              </Empty>
            );
          }
          return (
            <Stack>
              {returned === null ? <AskStep apps={active} /> : null}
              {returned === null ? null : (
                <TokenStep returned={returned} tokens={tokens} onTokens={keepTokens} />
              )}
              {tokens === null ? null : <ReadStep tokens={tokens} clientId={returned?.run?.clientId ?? ''} />}
            </Stack>
          );
        }}
      </Resource>
    </Narrow>
  );
}
