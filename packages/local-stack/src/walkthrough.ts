import type { Stack } from './stack.ts';

/** Renders curl commands for the life of an app, ready to paste into bash or zsh. */
export function renderWalkthrough({
  gatewayUrls,
  identityProviderUrl,
}: Pick<Stack, 'gatewayUrls' | 'identityProviderUrl'>): string {
  // The commands contain no comments: an interactive zsh would run them.
  return `PHDS=${gatewayUrls[0]}
field() { sed -n 's/.*"'"$1"'": *"\\([^"]*\\)".*/\\1/p'; }
send() { curl -sS -H 'Content-Type: application/json' "$@"; }
echo; echo '--- sessions of a developer and of ada'
DEVELOPER=$(send ${identityProviderUrl}/sessions -d '{"user":"developer"}' | field token)
ADA=$(send ${identityProviderUrl}/sessions -d '{"user":"ada"}' | field token)
echo '--- the developer registers an app'
APP=$(send $PHDS/developer/apps -H "Authorization: Bearer $DEVELOPER" -d '{"name":"Walk-through","redirectUris":["http://localhost:9999/callback"]}')
CLIENT_ID=$(printf '%s' "$APP" | field clientId); CLIENT_SECRET=$(printf '%s' "$APP" | field clientSecret); echo "$CLIENT_ID"
CLIENT='"client_id":"'$CLIENT_ID'","client_secret":"'$CLIENT_SECRET'"'
echo '--- the app asks for two scopes, and sends the person to the approval screen'
ASKED=$(send $PHDS/oauth/authorize -d '{'$CLIENT',"redirect_uri":"http://localhost:9999/callback","scope":"read:health-data:heart read:profile","state":"xyz"}')
PENDING=$(printf '%s' "$ASKED" | field pending_id); printf '%s' "$ASKED" | field approval_uri; echo
echo '--- ada approves, as the screen would for her'
APPROVED=$(send -X POST $PHDS/partner/consent/pending/$PENDING/approve -H "Authorization: Bearer $ADA" -d '{}'); echo "$APPROVED"
CODE=$(printf '%s' "$APPROVED" | sed -n 's/.*[?&]code=\\([^&"]*\\).*/\\1/p'); GRANT=$(printf '%s' "$APPROVED" | field grantId)
echo '--- the app exchanges the code for tokens'
TOKEN=$(send $PHDS/oauth/token -d '{"grant_type":"authorization_code","code":"'$CODE'",'$CLIENT',"redirect_uri":"http://localhost:9999/callback"}' | field access_token)
echo '--- the app reads'
curl -sS -H "Authorization: Bearer $TOKEN" "$PHDS/api/v1/health-data/heart?pageSize=2"; echo
curl -sS -H "Authorization: Bearer $TOKEN" $PHDS/api/v1/profile; echo
echo '--- ada revokes the grant: the very next request is refused'
curl -sS -X DELETE -H "Authorization: Bearer $ADA" $PHDS/partner/consent/grants/$GRANT; echo
curl -sS -H "Authorization: Bearer $TOKEN" $PHDS/api/v1/profile; echo`;
}
