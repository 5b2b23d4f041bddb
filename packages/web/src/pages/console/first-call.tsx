import type { DeveloperApp } from '../../api/resources.ts';
import { Card, Soft } from '../../ui/card.tsx';
import { Code } from '../../ui/code.tsx';

/** The calls from nothing to data, for this very app. The secret stays a variable, so that it is in no shell history. */
export function FirstCall({ app }: { readonly app: DeveloperApp }) {
  const { origin } = location;
  const redirectUri = app.redirectUris[0] ?? '';
  const scope = app.scopes.find((name) => name.startsWith('read:health-data:')) ?? app.scopes[0] ?? '';
  const category = scope.split(':')[2];
  const path = category === undefined ? `/api/v1/${scope.split(':')[1]}` : `/api/v1/health-data/${category}`;
  const text = `# CLIENT_SECRET is in the environment. 1: ask, and send the person to approval_uri
curl -s ${origin}/oauth/authorize -d client_id=${app.clientId} -d client_secret="$CLIENT_SECRET" \\
  --data-urlencode redirect_uri=${redirectUri} -d scope=${scope} -d state=xyz

# 2: the browser comes back to ${redirectUri}?code=…&state=xyz
curl -s ${origin}/oauth/token -d grant_type=authorization_code -d code="$CODE" \\
  -d client_id=${app.clientId} -d client_secret="$CLIENT_SECRET" --data-urlencode redirect_uri=${redirectUri}

# 3: read
curl -s ${origin}${path} -H "Authorization: Bearer $ACCESS_TOKEN"`;
  return (
    <Card label="The first call">
      <h2>The first call</h2>
      <Soft>Or use any OAuth client library: the code flow with PKCE works unchanged.</Soft>
      <Code text={text} label="Commands for the first call" />
    </Card>
  );
}
