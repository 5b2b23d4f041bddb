// Generated from openapi.json by bin/generate-types.ts. Do not edit.
export interface paths {
    readonly "/.well-known/jwks.json": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** List the public keys of consent receipts */
        readonly get: operations["getReceiptKeys"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/.well-known/oauth-authorization-server": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Describe the authorization server (RFC 8414) */
        readonly get: operations["getServerMetadata"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/aggregations": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Summarise readings
         * @description Needs `read:aggregations`; with `type`, the scope of its category is enough: `read:health-data:{category}`.
         */
        readonly get: operations["getAggregations"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/allergies": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List allergies
         * @description Needs `read:allergies`.
         */
        readonly get: operations["getAllergies"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/appointments": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List appointments
         * @description Needs `read:appointments`.
         */
        readonly get: operations["getAppointments"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/conditions": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List conditions
         * @description Needs `read:conditions`.
         */
        readonly get: operations["getConditions"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/ehr": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List records of connected providers
         * @description Needs `read:ehr`.
         */
        readonly get: operations["getEhr"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/health-data/{category}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List readings of one category
         * @description Needs `read:health-data:{category}`.
         */
        readonly get: operations["getHealthData"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/medications": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List medications
         * @description Needs `read:medications`.
         */
        readonly get: operations["getMedications"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/medications/{id}/adherence": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List the doses of one medication
         * @description Needs `read:medications`.
         */
        readonly get: operations["getAdherence"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/mood": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List mood entries
         * @description Needs `read:mood`.
         */
        readonly get: operations["getMood"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/profile": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Read the profile
         * @description Needs `read:profile`.
         */
        readonly get: operations["getProfile"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/reports": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List reports
         * @description Needs `read:reports`.
         */
        readonly get: operations["getReports"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/symptoms": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List symptoms
         * @description Needs `read:symptoms`.
         */
        readonly get: operations["getSymptoms"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/time-zone": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Read the time zone
         * @description Needs any scope of data with a time or a date.
         */
        readonly get: operations["getTimeZone"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/trends": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List trend points
         * @description Needs `read:trends`; with `type`, the scope of its category is enough: `read:health-data:{category}`.
         */
        readonly get: operations["getTrends"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/weight": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List weight entries
         * @description Needs `read:weight`.
         */
        readonly get: operations["getWeight"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/versions": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** List the versions of the data API */
        readonly get: operations["listVersions"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/catalog.json": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** List scopes, categories, data endpoints and metric types */
        readonly get: operations["getCatalog"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/developer/apps": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** List own apps */
        readonly get: operations["listApps"];
        readonly put?: never;
        /**
         * Register an app
         * @description Where live apps need an approval, a live app is `suspended` with a `lock` of the kind `approval` until an operator approves it.
         */
        readonly post: operations["registerApp"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/developer/apps/{clientId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Read an own app */
        readonly get: operations["getApp"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        /**
         * Change an own app
         * @description Where live apps need an approval, suspend a live app before you change anything but `requirePkce`: it then waits for another approval.
         */
        readonly patch: operations["changeApp"];
        readonly trace?: never;
    };
    readonly "/developer/apps/{clientId}/requests": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List the latest requests of an app
         * @description At most 200, of the last 24 hours. `complete` is false when the requests at other gateways are missing.
         */
        readonly get: operations["listRequests"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/developer/apps/{clientId}/rotate-secret": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Replace the secret
         * @description The old secret stops working at once, or after `overlapSeconds`; the one before it stops in any case. Issued tokens live on.
         */
        readonly post: operations["rotateSecret"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/developer/apps/{clientId}/sandbox/triggers": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Let something happen to a sandbox person
         * @description For a live grant of an own sandbox app. A reading arrives, is corrected or deleted in the first category that the grant opens; or the grant loses a scope, is revoked or expires.
         */
        readonly post: operations["pullSandboxTrigger"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/developer/apps/{clientId}/status": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Suspend, revoke or reactivate an app
         * @description Takes effect everywhere before it answers. `revoked` also ends all grants and tokens of the app. `active` is a CONFLICT while an operator has locked the app.
         */
        readonly post: operations["setAppStatus"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/developer/apps/{clientId}/usage": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Count accesses and refused requests */
        readonly get: operations["listAppUsage"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/developer/apps/{clientId}/webhook": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Read the webhook endpoint of an app */
        readonly get: operations["getWebhook"];
        /**
         * Set the webhook endpoint of an app
         * @description Creates the endpoint, or replaces its URL and events and enables it. It keeps its secret.
         */
        readonly put: operations["putWebhook"];
        readonly post?: never;
        /**
         * Remove the webhook endpoint of an app
         * @description Also what was not delivered yet, and the log. Idempotent.
         */
        readonly delete: operations["deleteWebhook"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/developer/apps/{clientId}/webhook/deliveries": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** List events and the attempts to deliver them */
        readonly get: operations["listDeliveries"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/developer/apps/{clientId}/webhook/deliveries/{id}/redeliver": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Deliver an event again
         * @description With the same id, after the pending events of its grant. A pending event is due at once.
         */
        readonly post: operations["redeliverEvent"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/developer/apps/{clientId}/webhook/rotate-secret": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Replace the secret of the webhook endpoint
         * @description During the overlap every event has the signatures of both secrets.
         */
        readonly post: operations["rotateWebhookSecret"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/developer/apps/{clientId}/webhook/test": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Send a test event
         * @description At most ten a minute. The event is sent after the answer.
         */
        readonly post: operations["sendTestEvent"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/livez": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Tell whether the process runs */
        readonly get: operations["getLiveness"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/oauth/authorize": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Send a person to the approval screen
         * @description The address to which the app sends the browser (RFC 6749 4.1.1). A mistake in `client_id` or `redirect_uri` shows a page; other errors return to the app with `error`, `error_description`, `state` and `iss`, for people whom the app does not know through a link on a page.
         */
        readonly get: operations["startAuthorization"];
        readonly put?: never;
        /**
         * Ask a person for approval
         * @description The secret is optional; without it the requests of an address are limited.
         */
        readonly post: operations["requestAuthorization"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/oauth/grants": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** List the grants of the app */
        readonly get: operations["listOwnGrants"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/oauth/grants/{id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Read a grant of the app */
        readonly get: operations["getOwnGrant"];
        readonly put?: never;
        readonly post?: never;
        /**
         * End a grant of the app
         * @description As a revocation by the person: takes effect everywhere before it answers.
         */
        readonly delete: operations["endOwnGrant"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/oauth/introspect": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Ask about an own token (RFC 7662) */
        readonly post: operations["introspectToken"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/oauth/par": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Ask a person for approval, with the secret (RFC 9126) */
        readonly post: operations["pushAuthorization"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/oauth/revoke": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Revoke a token (RFC 7009)
         * @description Takes effect everywhere before it answers. The answer is the same for unknown tokens.
         */
        readonly post: operations["revokeToken"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/oauth/scopes": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** List all scopes */
        readonly get: operations["listScopes"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/oauth/token": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Exchange a code, refresh, or get a token of the app itself */
        readonly post: operations["issueTokens"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/openapi.json": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Describe this interface (OpenAPI 3.1) */
        readonly get: operations["getOpenApi"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/partner/consent/accesses": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** List accesses */
        readonly get: operations["listAccesses"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/partner/consent/accesses.csv": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Download accesses */
        readonly get: operations["exportAccesses"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/partner/consent/accesses/summary": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Count accesses by day and app
         * @description The last 30 days, unless `from` and `to` say otherwise.
         */
        readonly get: operations["summarizeAccesses"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/partner/consent/apps": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** List apps with a present or past grant */
        readonly get: operations["listConnectedApps"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/partner/consent/grants": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** List grants */
        readonly get: operations["listGrants"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/partner/consent/grants/{id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Read a grant */
        readonly get: operations["getGrant"];
        readonly put?: never;
        readonly post?: never;
        /**
         * Revoke a grant
         * @description Takes effect everywhere before it answers.
         */
        readonly delete: operations["revokeGrant"];
        readonly options?: never;
        readonly head?: never;
        /**
         * Narrow a grant
         * @description Withdraws scopes, shortens the life, or moves the first day. Takes effect everywhere before it answers.
         */
        readonly patch: operations["narrowGrant"];
        readonly trace?: never;
    };
    readonly "/partner/consent/grants/{id}/accesses": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** List the accesses of a grant */
        readonly get: operations["listGrantAccesses"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/partner/consent/grants/{id}/deletion-request": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Ask the app to delete what it has read */
        readonly post: operations["requestDeletion"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/partner/consent/grants/{id}/receipt": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Get the receipt of a consent */
        readonly get: operations["getReceipt"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/partner/consent/grants/{id}/report": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Report the app of a grant */
        readonly post: operations["reportGrant"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/partner/consent/grants/revoke-all": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Revoke every grant
         * @description Takes effect everywhere before it answers.
         */
        readonly post: operations["revokeAllGrants"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/partner/consent/pending": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** List requests of apps */
        readonly get: operations["listPendingApprovals"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/partner/consent/pending/{id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Read a request of an app
         * @description The first person who reads it claims it.
         */
        readonly get: operations["getPendingApproval"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/partner/consent/pending/{id}/approve": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Approve a request
         * @description Without `scopes`, all requested ones are approved. The same approval again gets the same answer.
         */
        readonly post: operations["approve"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/partner/consent/pending/{id}/deny": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Deny a request */
        readonly post: operations["deny"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/partner/consent/pending/{id}/extend": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Take more time to decide */
        readonly post: operations["extendPendingApproval"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/partner/consent/pending/{id}/release": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Give a request back, for another account */
        readonly post: operations["releasePendingApproval"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/partner/consent/pending/{id}/report": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Report the app of a request */
        readonly post: operations["reportPendingApproval"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/partner/consent/preview": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** See own data as an app with one scope would */
        readonly get: operations["previewData"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/partner/session": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Read who is signed in */
        readonly get: operations["getSession"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/readyz": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Tell whether the process can serve */
        readonly get: operations["getReadiness"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/sign-out": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * End the session of this browser
         * @description Only our own pages may send it.
         */
        readonly post: operations["signOut"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/sign-out/back-channel": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** End sessions, as their OpenID provider (OpenID Connect Back-Channel Logout) */
        readonly post: operations["endSessions"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
}
export interface webhooks {
    readonly "data.updated": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Readings of a shared category were added, changed or deleted */
        readonly post: operations["on-data.updated"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "grant.expired": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** A grant reached its end */
        readonly post: operations["on-grant.expired"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "grant.narrowed": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** A grant shares less: these are its terms now */
        readonly post: operations["on-grant.narrowed"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "grant.revoked": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** A grant was ended */
        readonly post: operations["on-grant.revoked"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly test: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** The developer sent a test */
        readonly post: operations["on-test"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
}
export interface components {
    schemas: {
        /** @description What an app read, or was refused; without values. */
        readonly Access: {
            readonly app: {
                readonly clientId: string;
                /** @description The present name of the app, if it is another one. */
                readonly currentName?: string;
                readonly name: string;
            };
            /** Format: date-time */
            readonly at: string;
            readonly endpoint: string;
            readonly from: string | null;
            readonly grantId: string;
            readonly id: string;
            /** @enum {string} */
            readonly outcome: "released" | "refused";
            /** @enum {string|null} */
            readonly reason: "TOKEN_EXPIRED" | "TOKEN_REVOKED" | "FAMILY_REVOKED" | "GRANT_REVOKED" | "GRANT_EXPIRED" | "SCOPE_WITHDRAWN" | "APP_NOT_ALIVE" | "WINDOW_CHANGED" | "RESTORE_UNCONFIRMED" | null;
            readonly recordCount: number;
            readonly scope: components["schemas"]["Scope"];
            readonly to: string | null;
        };
        readonly AccessDay: {
            readonly app: {
                readonly clientId: string;
                /** @description The present name of the app, if it is another one. */
                readonly currentName?: string;
                readonly name: string;
            };
            /** Format: date */
            readonly date: string;
            readonly refused: number;
            readonly released: number;
            readonly scopes: readonly {
                readonly refused: number;
                readonly released: number;
                readonly scope: components["schemas"]["Scope"];
            }[];
        };
        /** @description The record of the access could not be made durable, and no data leaves without one. */
        readonly AccessNotRecordedProblem: {
            /** @constant */
            readonly code: "ACCESS_NOT_RECORDED";
            readonly detail: string;
            /** @description As in `X-Request-Id`. */
            readonly requestId: string;
            /** @constant */
            readonly status: 503;
            readonly title: string;
            /**
             * @description The address of a page about the code.
             * @constant
             */
            readonly type: "/problems/access-not-recorded";
        };
        readonly Aggregations: {
            readonly from: string | null;
            /** Format: date-time */
            readonly generatedAt: string;
            readonly metrics: readonly components["schemas"]["MetricSummary"][];
            readonly timeZone: string;
            readonly to: string | null;
        };
        readonly Allergy: {
            /** @description Stable for one app; other apps get other ids for the same item. */
            readonly id: string;
            readonly name: string;
            /** @enum {string|null} */
            readonly severity: "mild" | "moderate" | "severe" | null;
            /** @description May be partial: 2019 or 2019-05. */
            readonly sinceDate: string | null;
        };
        /** @description This request of an app was decided or cancelled before. The decision that was sent is another one, or the code of the approval is used or expired. */
        readonly AlreadyDecidedProblem: {
            /** @constant */
            readonly code: "ALREADY_DECIDED";
            readonly detail: string;
            /** @description As in `X-Request-Id`. */
            readonly requestId: string;
            /** @constant */
            readonly status: 409;
            readonly title: string;
            /**
             * @description The address of a page about the code.
             * @constant
             */
            readonly type: "/problems/already-decided";
        };
        readonly App: {
            readonly clientId: string;
            /** Format: date-time */
            readonly createdAt: string;
            readonly description: string | null;
            readonly developerName: string | null;
            /** @enum {string} */
            readonly environment: "live" | "sandbox";
            readonly homepageUrl: string | null;
            /** @description While it is not null, the app cannot be `active`, and only an operator changes that. */
            readonly lock: {
                /**
                 * @description `suspension`: an operator suspended the app. `approval`: it waits for an approval.
                 * @enum {string}
                 */
                readonly kind: "suspension" | "approval";
                /** @description Of a suspension, in the words of the operator. */
                readonly reason: string | null;
                /** Format: date-time */
                readonly since: string;
            } | null;
            readonly logoUrl: string | null;
            readonly name: string;
            /** Format: date-time */
            readonly previousSecretExpiresAt: string | null;
            /** @description Of the secret before, while it still works. */
            readonly previousSecretLast4: string | null;
            readonly privacyPolicyUrl: string | null;
            readonly redirectUris: readonly string[];
            readonly requirePkce: boolean;
            readonly scopes: readonly components["schemas"]["Scope"][];
            readonly secretLast4: string;
            /** @enum {string} */
            readonly status: "active" | "suspended" | "revoked";
            /** Format: date-time */
            readonly updatedAt: string;
        };
        readonly AppChange: {
            /** Format: date-time */
            readonly at: string;
            readonly field: string;
            readonly from: string | null;
            readonly to: string | null;
        };
        /** @description The app is suspended or revoked, so nothing can be approved for it. */
        readonly AppNotActiveProblem: {
            /** @constant */
            readonly code: "APP_NOT_ACTIVE";
            readonly detail: string;
            /** @description As in `X-Request-Id`. */
            readonly requestId: string;
            /** @constant */
            readonly status: 409;
            readonly title: string;
            /**
             * @description The address of a page about the code.
             * @constant
             */
            readonly type: "/problems/app-not-active";
        };
        readonly Appointment: {
            /**
             * Format: date-time
             * @description With the offset of the time zone.
             */
            readonly dateTime: string;
            /** @description Stable for one app; other apps get other ids for the same item. */
            readonly id: string;
            readonly location: string | null;
            readonly specialty: string | null;
            readonly title: string;
        };
        /** @description The body of `approve` that repeats the approval. */
        readonly ApprovedTerms: {
            /**
             * Format: date
             * @description First day of the data that is shared; null for all.
             */
            readonly dataFrom: string | null;
            readonly expiresInDays?: number;
            /** @constant */
            readonly keepExpiry?: true;
            readonly scopes: readonly components["schemas"]["Scope"][];
        };
        /** @description The accesses and refused requests of one day and endpoint. */
        readonly AppUsage: {
            /** Format: date */
            readonly date: string;
            readonly endpoint: string;
            readonly refusals: readonly {
                readonly count: number;
                readonly status: number;
            }[];
            readonly refused: number;
            readonly released: number;
        };
        readonly AuthorizationRequest: {
            readonly client_id?: string;
            readonly client_secret?: string;
            /** @description PKCE (RFC 7636). */
            readonly code_challenge?: string;
            /**
             * @description `S256`; needed with `code_challenge`.
             * @constant
             */
            readonly code_challenge_method?: "S256";
            /**
             * @description `true`: the tokens get every scope that the person shares with the app, not only those of this approval.
             * @enum {string}
             */
            readonly include_granted_scopes?: "true" | "false";
            /** @description Sandbox apps only: who approves (ada, ben, cleo, dora), or `deny`. */
            readonly login_hint?: string;
            /** @description Scopes without which the app does not work. */
            readonly needed_scope?: string;
            /** @description Why the app asks, for the approval screen. Kept only with the secret. */
            readonly purpose?: string;
            /** @description One of the registered redirect URIs of the app, character by character. */
            readonly redirect_uri: string;
            /**
             * @description `code`, also if absent.
             * @constant
             */
            readonly response_type?: "code";
            /**
             * @description One or more scopes, separated by spaces.
             * @example read:health-data:heart
             */
            readonly scope: string;
            /** @description Returned unchanged. */
            readonly state?: string;
        };
        /**
         * @description A category of readings.
         * @enum {string}
         */
        readonly Category: "heart" | "blood-pressure" | "oxygen" | "respiratory" | "glucose" | "temperature" | "activity" | "sleep" | "body-composition" | "mindfulness";
        readonly ChangedReading: {
            /** @constant */
            readonly deleted: false;
            /** @description Stable for one app; other apps get other ids for the same item. */
            readonly id: string;
            readonly source: string;
            /** Format: date-time */
            readonly timestamp: string;
            readonly type: components["schemas"]["MetricType"];
            readonly unit: string;
            /**
             * Format: date-time
             * @description When the change was committed.
             */
            readonly updatedAt: string;
            readonly value: number | null;
        };
        /** @description With `updatedSince`: what changed, the oldest change first. */
        readonly Changes: {
            readonly data: readonly (components["schemas"]["ChangedReading"] | components["schemas"]["DeletedReading"])[];
            readonly sync: {
                /** @description The next `updatedSince`. Opaque, another text each time; keep it together with the readings. */
                readonly cursor: string;
                /** @description Whether to go on with `cursor` now. With a `type`, also true on a page with few items or none if the search is not at its end. */
                readonly hasMore: boolean;
                /**
                 * Format: date-time
                 * @description Time of the latest change of the category that the app may see; null if there is none.
                 */
                readonly lastDataAt: string | null;
                /** @description IANA time zone of the person; UTC for a person who has none. */
                readonly timeZone: string;
            };
        };
        readonly Condition: {
            /** @description Stable for one app; other apps get other ids for the same item. */
            readonly id: string;
            readonly name: string;
            /** @enum {string|null} */
            readonly severity: "mild" | "moderate" | "severe" | null;
            /** @description May be partial: 2019 or 2019-05. */
            readonly sinceDate: string | null;
        };
        /** @description The present state does not allow the change, for example because a developer has as many apps as are allowed, because an operator keeps an app from being active, because an app has changed its settings since it asked for an approval, or because what the person shares with the app has changed since the approval screen showed it. */
        readonly ConflictProblem: {
            /** @constant */
            readonly code: "CONFLICT";
            readonly detail: string;
            /** @description As in `X-Request-Id`. */
            readonly requestId: string;
            /** @constant */
            readonly status: 409;
            readonly title: string;
            /**
             * @description The address of a page about the code.
             * @constant
             */
            readonly type: "/problems/conflict";
        };
        readonly ConnectedApp: {
            readonly clientId: string;
            /** @description The present name of the app, if it is another one. */
            readonly currentName?: string;
            readonly name: string;
            readonly redirectHost: string | null;
        };
        /** @description What the person shares with the app now. */
        readonly Connection: {
            readonly appName: string;
            readonly dataFrom: string | null;
            /** Format: date-time */
            readonly expiresAt: string;
            readonly grantId: string;
            readonly scopes: readonly components["schemas"]["Scope"][];
        };
        /** @description No active consent of a person covers this endpoint: the grant has expired, the person has withdrawn the scope, or the token belongs to the app alone (client credentials). */
        readonly ConsentRequiredProblem: {
            /** @constant */
            readonly code: "CONSENT_REQUIRED";
            readonly detail: string;
            /** @description As in `X-Request-Id`. */
            readonly requestId: string;
            readonly requiredScope: components["schemas"]["Scope"];
            /** @constant */
            readonly status: 403;
            readonly title: string;
            /**
             * @description The address of a page about the code.
             * @constant
             */
            readonly type: "/problems/consent-required";
        };
        /** @description The cursor no longer holds, because readings before it may have changed unseen: the person shares from an earlier time than when the cursor was given, their data was erased, or the database was restored from a backup. Or the cursor is too old. */
        readonly CursorExpiredProblem: {
            /** @constant */
            readonly code: "CURSOR_EXPIRED";
            readonly detail: string;
            /** @description As in `X-Request-Id`. */
            readonly requestId: string;
            /** @constant */
            readonly status: 410;
            readonly title: string;
            /**
             * @description The address of a page about the code.
             * @constant
             */
            readonly type: "/problems/cursor-expired";
        };
        readonly DataUpdatedEvent: {
            readonly data: {
                readonly categories: readonly components["schemas"]["Category"][];
                readonly grantId: string;
                /** Format: date-time */
                readonly lastDataAt: string;
                /** @description The person, as in the answers of the token endpoint. */
                readonly sub: string;
            };
            /** Format: date-time */
            readonly timestamp: string;
            /** @constant */
            readonly type: "data.updated";
        };
        readonly DeletedReading: {
            /** @constant */
            readonly deleted: true;
            /** @description Stable for one app; other apps get other ids for the same item. */
            readonly id: string;
            /** Format: date-time */
            readonly timestamp: string;
            readonly type: components["schemas"]["MetricType"];
            /**
             * Format: date-time
             * @description When the change was committed.
             */
            readonly updatedAt: string;
        };
        readonly Dose: {
            readonly dose: string | null;
            /** @description Stable for one app; other apps get other ids for the same item. */
            readonly id: string;
            readonly reason: string | null;
            /** Format: date-time */
            readonly scheduledAt: string | null;
            /** @enum {string} */
            readonly status: "taken" | "skipped" | "missed" | "pending";
            /** Format: date-time */
            readonly takenAt: string | null;
        };
        readonly EhrRecord: {
            /** @description Stable for one app; other apps get other ids for the same item. */
            readonly id: string;
            readonly resourceType: string;
            readonly summary: string;
            /** Format: date-time */
            readonly timestamp: string;
        };
        readonly Grant: {
            readonly accessCount: number;
            readonly app: {
                readonly clientId: string | null;
                /** @description The present name of the app, if it is another one. */
                readonly currentName?: string;
                readonly description: string | null;
                readonly developerName: string | null;
                readonly homepageUrl: string | null;
                readonly logoUrl: string | null;
                readonly name: string | null;
                readonly privacyPolicyUrl: string | null;
                readonly redirectHost: string | null;
            };
            readonly appChanges?: readonly components["schemas"]["AppChange"][];
            /**
             * Format: date
             * @description First day of the data that is shared; null for all.
             */
            readonly dataFrom: string | null;
            /** Format: date-time */
            readonly deletionRequestedAt: string | null;
            readonly endedBy: components["schemas"]["GrantEnder"] | null;
            /** Format: date-time */
            readonly expiresAt: string;
            /** Format: date-time */
            readonly grantedAt: string;
            readonly id: string;
            /** Format: date-time */
            readonly lastAccessAt: string | null;
            readonly purpose: string | null;
            /** Format: date-time */
            readonly revokedAt: string | null;
            readonly revokedBy: string | null;
            readonly scopes: readonly components["schemas"]["Scope"][];
            /** @enum {string} */
            readonly status: "active" | "expired" | "revoked";
        };
        /** @enum {string} */
        readonly GrantEnder: "person" | "app" | "developer" | "expiry";
        readonly GrantExpiredEvent: {
            readonly data: {
                readonly endedBy: components["schemas"]["GrantEnder"];
                readonly grantId: string;
                /** @description The person, as in the answers of the token endpoint. */
                readonly sub: string;
            };
            /** Format: date-time */
            readonly timestamp: string;
            /** @constant */
            readonly type: "grant.expired";
        };
        readonly GrantNarrowedEvent: {
            readonly data: {
                /**
                 * Format: date
                 * @description The first day that is shared; null for everything.
                 */
                readonly dataFrom: string | null;
                /** Format: date-time */
                readonly expiresAt: string;
                readonly grantId: string;
                readonly scopes: readonly components["schemas"]["Scope"][];
                /** @description The person, as in the answers of the token endpoint. */
                readonly sub: string;
            };
            /** Format: date-time */
            readonly timestamp: string;
            /** @constant */
            readonly type: "grant.narrowed";
        };
        readonly GrantRevokedEvent: {
            readonly data: {
                readonly endedBy: components["schemas"]["GrantEnder"];
                readonly grantId: string;
                /** @description The person, as in the answers of the token endpoint. */
                readonly sub: string;
            };
            /** Format: date-time */
            readonly timestamp: string;
            /** @constant */
            readonly type: "grant.revoked";
        };
        /** @description The access token was not issued with the scope of this endpoint. `requiredScope` names it. */
        readonly InsufficientScopeProblem: {
            /** @constant */
            readonly code: "INSUFFICIENT_SCOPE";
            readonly detail: string;
            /** @description As in `X-Request-Id`. */
            readonly requestId: string;
            readonly requiredScope: components["schemas"]["Scope"];
            /** @constant */
            readonly status: 403;
            readonly title: string;
            /**
             * @description The address of a page about the code.
             * @constant
             */
            readonly type: "/problems/insufficient-scope";
        };
        /** @description Something failed on the side of the service. 503: a part of it is away for now. */
        readonly InternalErrorError: {
            /** @constant */
            readonly code: "INTERNAL_ERROR";
            /** @constant */
            readonly error: "temporarily_unavailable";
            readonly error_description: string;
        };
        /** @description Something failed on the side of the service. 503: a part of it is away for now. */
        readonly InternalErrorProblem: {
            /** @constant */
            readonly code: "INTERNAL_ERROR";
            readonly detail: string;
            /** @description As in `X-Request-Id`. */
            readonly requestId: string;
            /** @enum {number} */
            readonly status: 500 | 503;
            readonly title: string;
            /**
             * @description The address of a page about the code.
             * @constant
             */
            readonly type: "/problems/internal-error";
        };
        readonly Introspection: {
            /** @constant */
            readonly active: false;
        } | {
            /** @constant */
            readonly active: true;
            readonly client_id: string;
            readonly exp?: number;
            readonly grant_id?: string;
            readonly iat?: number;
            readonly scope: string;
            readonly sub?: string;
            readonly token_type: string;
        };
        /** @description The authorization code or refresh token does not work: it is unknown, expired, used or another app’s, `redirect_uri` or `code_verifier` is wrong, the grant has ended or lost all scopes of the token, or the settings of the app were tightened after the person was asked. */
        readonly InvalidGrantError: {
            /** @constant */
            readonly code: "INVALID_GRANT";
            /** @constant */
            readonly error: "invalid_grant";
            readonly error_description: string;
        };
        /** @description The request is malformed. `errors` names every parameter at fault. 405, under `/oauth` only: see METHOD_NOT_ALLOWED. 408: the request did not arrive in time. 413 and 431: it is too large. 415: the body has another media type. */
        readonly InvalidRequestError: {
            /** @constant */
            readonly code: "INVALID_REQUEST";
            /** @constant */
            readonly error: "invalid_request";
            readonly error_description: string;
        };
        /** @description The request is malformed. `errors` names every parameter at fault. 405, under `/oauth` only: see METHOD_NOT_ALLOWED. 408: the request did not arrive in time. 413 and 431: it is too large. 415: the body has another media type. */
        readonly InvalidRequestProblem: {
            /** @constant */
            readonly code: "INVALID_REQUEST";
            readonly detail: string;
            /** @description Every parameter at fault. */
            readonly errors: readonly components["schemas"]["Violation"][];
            /** @description As in `X-Request-Id`. */
            readonly requestId: string;
            /** @enum {number} */
            readonly status: 400 | 405 | 408 | 413 | 415 | 417 | 431;
            readonly title: string;
            /**
             * @description The address of a page about the code.
             * @constant
             */
            readonly type: "/problems/invalid-request";
        };
        /** @description The scope is empty, unknown or not registered for the app, or a refresh asks for more than the grant still has. */
        readonly InvalidScopeError: {
            /** @constant */
            readonly code: "INVALID_SCOPE";
            /** @constant */
            readonly error: "invalid_scope";
            readonly error_description: string;
        };
        readonly LoggedRequest: {
            /** Format: date-time */
            readonly at: string;
            /** @enum {string|null} */
            readonly code: "UNAUTHORIZED" | "TOKEN_EXPIRED" | "INSUFFICIENT_SCOPE" | "CONSENT_REQUIRED" | "STEP_UP_REQUIRED" | "NOT_A_DEVELOPER" | "RATE_LIMITED" | "INVALID_REQUEST" | "UNSUPPORTED_VERSION" | "NOT_FOUND" | "METHOD_NOT_ALLOWED" | "CURSOR_EXPIRED" | "ACCESS_NOT_RECORDED" | "INTERNAL_ERROR" | "CONFLICT" | "PENDING_EXPIRED" | "ALREADY_DECIDED" | "APP_NOT_ACTIVE" | "NO_SCOPES_APPROVED" | "INVALID_GRANT" | "INVALID_SCOPE" | "UNSUPPORTED_GRANT_TYPE" | "UNAUTHORIZED_CLIENT" | null;
            /** @description The path without ids. */
            readonly endpoint: string;
            readonly method: string;
            readonly ms: number;
            readonly requestId: string;
            readonly status: number;
        };
        readonly Medication: {
            readonly condition: string | null;
            readonly dosage: string | null;
            readonly frequency: string | null;
            /** @description Stable for one app; other apps get other ids for the same item. */
            readonly id: string;
            readonly name: string;
            /** @enum {string|null} */
            readonly pattern: "QD" | "BID" | "TID" | "QID" | "QOD" | "AM" | "PM" | "BED" | "Q1H" | "Q2H" | "Q3H" | "Q4H" | "Q6H" | "Q8H" | "WK" | "MO" | "PRN" | "OTHER" | null;
        };
        readonly MetricSummary: {
            readonly average: number | null;
            /** @enum {string} */
            readonly basis: "reading" | "day";
            readonly category: components["schemas"]["Category"];
            readonly count: number;
            readonly latest: {
                /** Format: date-time */
                readonly timestamp: string;
                readonly value: number | null;
            } | null;
            readonly max: number | null;
            readonly min: number | null;
            readonly outOfRange: {
                readonly above: number;
                readonly below: number;
                readonly total: number;
            } | null;
            readonly referenceRange: {
                readonly high: number;
                readonly low: number;
                readonly source: string;
            } | null;
            readonly sum: number | null;
            readonly type: components["schemas"]["MetricType"];
            readonly unit: string;
        };
        /**
         * @description A kind of measurement.
         * @enum {string}
         */
        readonly MetricType: "Heart Rate" | "Resting HR" | "Walking HR" | "HRV" | "ECG" | "Blood Pressure" | "BP Diastolic" | "SPO2" | "Respiratory Rate" | "Respiratory" | "Glucose" | "Temperature" | "Steps" | "Distance" | "Calories" | "Basal Calories" | "Exercise" | "Flights" | "Sleep" | "Sleep Deep" | "Sleep Core" | "Sleep REM" | "Sleep Awake" | "Time in Bed" | "Weight" | "Height" | "BMI" | "Body Fat" | "Mindfulness";
        readonly MoodEntry: {
            /** @description Stable for one app; other apps get other ids for the same item. */
            readonly id: string;
            /** @enum {string} */
            readonly mood: "veryUnpleasant" | "unpleasant" | "slightlyUnpleasant" | "neutral" | "slightlyPleasant" | "pleasant" | "veryPleasant";
            readonly note: string | null;
            /** Format: date-time */
            readonly timestamp: string;
        };
        readonly NewApp: {
            readonly clientId: string;
            /** @description Shown once, here. */
            readonly clientSecret: string;
            /** Format: date-time */
            readonly createdAt: string;
            readonly description: string | null;
            readonly developerName: string | null;
            /** @enum {string} */
            readonly environment: "live" | "sandbox";
            readonly homepageUrl: string | null;
            /** @description While it is not null, the app cannot be `active`, and only an operator changes that. */
            readonly lock: {
                /**
                 * @description `suspension`: an operator suspended the app. `approval`: it waits for an approval.
                 * @enum {string}
                 */
                readonly kind: "suspension" | "approval";
                /** @description Of a suspension, in the words of the operator. */
                readonly reason: string | null;
                /** Format: date-time */
                readonly since: string;
            } | null;
            readonly logoUrl: string | null;
            readonly name: string;
            /** Format: date-time */
            readonly previousSecretExpiresAt: string | null;
            /** @description Of the secret before, while it still works. */
            readonly previousSecretLast4: string | null;
            readonly privacyPolicyUrl: string | null;
            readonly redirectUris: readonly string[];
            readonly requirePkce: boolean;
            readonly scopes: readonly components["schemas"]["Scope"][];
            readonly secretLast4: string;
            /** @enum {string} */
            readonly status: "active" | "suspended" | "revoked";
            /** Format: date-time */
            readonly updatedAt: string;
        };
        readonly NewWebhook: {
            /** Format: date-time */
            readonly createdAt: string;
            /**
             * @description `gone`: the receiver answered 410. Set the URL again to enable the endpoint.
             * @enum {string|null}
             */
            readonly disabledReason: "gone" | null;
            readonly events: readonly ("grant.revoked" | "grant.expired" | "grant.narrowed" | "data.updated")[];
            /**
             * Format: date-time
             * @description The first failed attempt since the last accepted one; null when the last one was accepted.
             */
            readonly failingSince: string | null;
            /**
             * Format: date-time
             * @description Until then the secret before signs as well; null when it does not.
             */
            readonly previousSecretExpiresAt: string | null;
            /** @description `whsec_…`, shown once, here. */
            readonly secret: string;
            /** Format: date-time */
            readonly updatedAt: string;
            readonly url: string;
        };
        /** @description The approval names no scope. The request of the app stays pending. */
        readonly NoScopesApprovedProblem: {
            /** @constant */
            readonly code: "NO_SCOPES_APPROVED";
            readonly detail: string;
            /** @description As in `X-Request-Id`. */
            readonly requestId: string;
            /** @constant */
            readonly status: 400;
            readonly title: string;
            /**
             * @description The address of a page about the code.
             * @constant
             */
            readonly type: "/problems/no-scopes-approved";
        };
        /** @description This service lets only some people register apps, and the signed-in person is none of them. */
        readonly NotADeveloperProblem: {
            /** @constant */
            readonly code: "NOT_A_DEVELOPER";
            readonly detail: string;
            /** @description As in `X-Request-Id`. */
            readonly requestId: string;
            /** @constant */
            readonly status: 403;
            readonly title: string;
            /**
             * @description The address of a page about the code.
             * @constant
             */
            readonly type: "/problems/not-a-developer";
        };
        /** @description There is nothing at this address, or it belongs to somebody else. The two are not told apart. */
        readonly NotFoundError: {
            /** @constant */
            readonly code: "NOT_FOUND";
            /** @constant */
            readonly error: "invalid_request";
            readonly error_description: string;
        };
        /** @description There is nothing at this address, or it belongs to somebody else. The two are not told apart. */
        readonly NotFoundProblem: {
            /** @constant */
            readonly code: "NOT_FOUND";
            readonly detail: string;
            /** @description As in `X-Request-Id`. */
            readonly requestId: string;
            /** @constant */
            readonly status: 404;
            readonly title: string;
            /**
             * @description The address of a page about the code.
             * @constant
             */
            readonly type: "/problems/not-found";
        };
        /** @description Any error under `/oauth` (RFC 6749 5.2). */
        readonly OauthError: {
            /** @enum {string} */
            readonly code: "UNAUTHORIZED" | "TOKEN_EXPIRED" | "INSUFFICIENT_SCOPE" | "CONSENT_REQUIRED" | "STEP_UP_REQUIRED" | "NOT_A_DEVELOPER" | "RATE_LIMITED" | "INVALID_REQUEST" | "UNSUPPORTED_VERSION" | "NOT_FOUND" | "METHOD_NOT_ALLOWED" | "CURSOR_EXPIRED" | "ACCESS_NOT_RECORDED" | "INTERNAL_ERROR" | "CONFLICT" | "PENDING_EXPIRED" | "ALREADY_DECIDED" | "APP_NOT_ACTIVE" | "NO_SCOPES_APPROVED" | "INVALID_GRANT" | "INVALID_SCOPE" | "UNSUPPORTED_GRANT_TYPE" | "UNAUTHORIZED_CLIENT";
            readonly error: string;
            readonly error_description: string;
        };
        readonly OwnGrant: {
            /**
             * Format: date
             * @description First day of the data that is shared; null for all.
             */
            readonly data_from: string | null;
            /** Format: date-time */
            readonly deletion_requested_at: string | null;
            /** Format: date-time */
            readonly ended_at: string | null;
            readonly ended_by: components["schemas"]["GrantEnder"] | null;
            /** Format: date-time */
            readonly expires_at: string;
            /** Format: date-time */
            readonly granted_at: string;
            readonly id: string;
            readonly scopes: readonly components["schemas"]["Scope"][];
            /** @enum {string} */
            readonly status: "active" | "expired" | "revoked";
            /** @description Identifies the person to this app. Null only while the service is being updated. */
            readonly sub: string | null;
        };
        readonly OwnTokenRequest: {
            readonly client_id?: string;
            readonly client_secret?: string;
            readonly token: string;
            readonly token_type_hint?: string;
        };
        /** @description Which page of a list this is; `total` counts the items of all pages. */
        readonly Pagination: {
            readonly page: number;
            readonly pageSize: number;
            readonly total: number;
            readonly totalPages: number;
        };
        readonly PendingApproval: {
            readonly app: {
                readonly clientId: string | null;
                readonly description: string | null;
                readonly developerName: string | null;
                readonly homepageUrl: string | null;
                readonly logoUrl: string | null;
                readonly name: string | null;
                readonly privacyPolicyUrl: string | null;
                readonly redirectHost: string;
            };
            readonly approved?: components["schemas"]["ApprovedTerms"];
            readonly clientAuthenticated: boolean;
            readonly connection: components["schemas"]["Connection"] | null;
            /** Format: date-time */
            readonly createdAt: string;
            /** Format: date-time */
            readonly expiresAt: string;
            readonly id: string;
            readonly purpose: string | null;
            readonly requestedScopes: readonly components["schemas"]["RequestedScope"][];
            /** @description Sent back with the decision, names what the screen showed. */
            readonly revision: string | null;
            /** @enum {string} */
            readonly status: "pending" | "approved" | "denied" | "expired" | "cancelled";
        };
        /** @description The time to decide on this request of an app is over, so it can be neither decided nor extended. */
        readonly PendingExpiredProblem: {
            /** @constant */
            readonly code: "PENDING_EXPIRED";
            readonly detail: string;
            /** @description As in `X-Request-Id`. */
            readonly requestId: string;
            /** @constant */
            readonly status: 409;
            readonly title: string;
            /**
             * @description The address of a page about the code.
             * @constant
             */
            readonly type: "/problems/pending-expired";
        };
        /** @description Any error outside of `/oauth` (RFC 9457). */
        readonly Problem: {
            /** @enum {string} */
            readonly code: "UNAUTHORIZED" | "TOKEN_EXPIRED" | "INSUFFICIENT_SCOPE" | "CONSENT_REQUIRED" | "STEP_UP_REQUIRED" | "NOT_A_DEVELOPER" | "RATE_LIMITED" | "INVALID_REQUEST" | "UNSUPPORTED_VERSION" | "NOT_FOUND" | "METHOD_NOT_ALLOWED" | "CURSOR_EXPIRED" | "ACCESS_NOT_RECORDED" | "INTERNAL_ERROR" | "CONFLICT" | "PENDING_EXPIRED" | "ALREADY_DECIDED" | "APP_NOT_ACTIVE" | "NO_SCOPES_APPROVED" | "INVALID_GRANT" | "INVALID_SCOPE" | "UNSUPPORTED_GRANT_TYPE" | "UNAUTHORIZED_CLIENT";
            readonly detail: string;
            /** @description Every parameter at fault. */
            readonly errors?: readonly components["schemas"]["Violation"][];
            /** @description As in `X-Request-Id`. */
            readonly requestId?: string;
            readonly requiredScope?: components["schemas"]["Scope"];
            readonly status: number;
            readonly supportedVersions?: readonly string[];
            readonly title: string;
            /** @description The address of a page about the code. */
            readonly type: string;
        };
        readonly Profile: {
            /** @enum {string|null} */
            readonly bloodType: "A+" | "A-" | "B+" | "B-" | "AB+" | "AB-" | "O+" | "O-" | null;
            /** Format: date */
            readonly dateOfBirth: string | null;
            /** @enum {string|null} */
            readonly gender: "male" | "female" | "other" | "unknown" | null;
            readonly name: string | null;
        };
        readonly PushedAuthorization: {
            /** Format: uri */
            readonly approval_uri: string;
            readonly expires_in: number;
            readonly pending_id: string;
            readonly request_uri: string;
            /** @constant */
            readonly status: "pending";
        };
        /** @description A limit is used up: of the app, of the person, or of failed authentications. `RateLimit-Policy` names the limit. */
        readonly RateLimitedError: {
            /** @constant */
            readonly code: "RATE_LIMITED";
            /** @constant */
            readonly error: "temporarily_unavailable";
            readonly error_description: string;
        };
        /** @description A limit is used up: of the app, of the person, or of failed authentications. `RateLimit-Policy` names the limit. */
        readonly RateLimitedProblem: {
            /** @constant */
            readonly code: "RATE_LIMITED";
            readonly detail: string;
            /** @description As in `X-Request-Id`. */
            readonly requestId: string;
            /** @constant */
            readonly status: 429;
            readonly title: string;
            /**
             * @description The address of a page about the code.
             * @constant
             */
            readonly type: "/problems/rate-limited";
        };
        readonly Reading: {
            /** @description Stable for one app; other apps get other ids for the same item. */
            readonly id: string;
            readonly source: string;
            /** Format: date-time */
            readonly timestamp: string;
            readonly type: components["schemas"]["MetricType"];
            readonly unit: string;
            readonly value: number | null;
        };
        readonly Report: {
            readonly dateRange: {
                /** Format: date */
                readonly from: string;
                /** Format: date */
                readonly to: string;
            };
            /** Format: date-time */
            readonly generatedAt: string;
            /** @description Stable for one app; other apps get other ids for the same item. */
            readonly id: string;
            readonly summary: string;
        };
        readonly RequestedScope: {
            readonly alreadyShared: boolean;
            readonly description: string | null;
            /** @enum {string|null} */
            readonly need: "needed" | "optional" | null;
            readonly scope: components["schemas"]["Scope"];
            readonly sensitive: boolean;
            readonly title: string;
        };
        readonly SandboxTrigger: {
            /** @description Whether anything is different now. */
            readonly changed: boolean;
            readonly grantId: string;
            /** @enum {string} */
            readonly trigger: "data.arrive" | "data.correct" | "data.delete" | "grant.narrow" | "grant.revoke" | "grant.expire";
        };
        /**
         * @description A kind of data.
         * @enum {string}
         */
        readonly Scope: "read:health-data:heart" | "read:health-data:blood-pressure" | "read:health-data:oxygen" | "read:health-data:respiratory" | "read:health-data:glucose" | "read:health-data:temperature" | "read:health-data:activity" | "read:health-data:sleep" | "read:health-data:body-composition" | "read:health-data:mindfulness" | "read:aggregations" | "read:trends" | "read:symptoms" | "read:medications" | "read:conditions" | "read:allergies" | "read:appointments" | "read:weight" | "read:mood" | "read:reports" | "read:profile" | "read:ehr";
        readonly ScopeDescription: {
            readonly category: string;
            readonly description: string;
            readonly endpoints: readonly string[];
            readonly scope: components["schemas"]["Scope"];
            readonly sensitive: boolean;
            readonly title: string;
        };
        readonly ServerMetadata: {
            /** Format: uri */
            readonly authorization_endpoint: string;
            readonly authorization_response_iss_parameter_supported: boolean;
            readonly code_challenge_methods_supported: readonly string[];
            readonly grant_types_supported: readonly string[];
            /** Format: uri */
            readonly introspection_endpoint: string;
            readonly introspection_endpoint_auth_methods_supported: readonly string[];
            /** Format: uri */
            readonly issuer: string;
            /** Format: uri */
            readonly pushed_authorization_request_endpoint: string;
            readonly request_parameter_supported: boolean;
            readonly request_uri_parameter_supported: boolean;
            readonly require_pushed_authorization_requests: boolean;
            readonly response_modes_supported: readonly string[];
            readonly response_types_supported: readonly string[];
            /** Format: uri */
            readonly revocation_endpoint: string;
            readonly revocation_endpoint_auth_methods_supported: readonly string[];
            readonly scopes_supported: readonly components["schemas"]["Scope"][];
            /** Format: uri */
            readonly service_documentation: string;
            /** Format: uri */
            readonly token_endpoint: string;
            readonly token_endpoint_auth_methods_supported: readonly string[];
        };
        /** @description The session is valid, but the action needs a more recent or a stronger sign-in of the person. `detail` says which. The settings of the service name these actions: approving sensitive scopes, the preview of one’s own data, rotating a client secret. */
        readonly StepUpRequiredProblem: {
            /** @constant */
            readonly code: "STEP_UP_REQUIRED";
            readonly detail: string;
            /** @description As in `X-Request-Id`. */
            readonly requestId: string;
            /** @constant */
            readonly status: 403;
            readonly title: string;
            /**
             * @description The address of a page about the code.
             * @constant
             */
            readonly type: "/problems/step-up-required";
        };
        readonly Symptom: {
            readonly description: string;
            /** @description Stable for one app; other apps get other ids for the same item. */
            readonly id: string;
            /** @enum {string|null} */
            readonly severity: "mild" | "moderate" | "severe" | null;
            /** Format: date-time */
            readonly timestamp: string;
        };
        readonly TestEvent: {
            readonly data: Record<string, never>;
            /** Format: date-time */
            readonly timestamp: string;
            /** @constant */
            readonly type: "test";
        };
        readonly TimeZone: {
            /** @description IANA time zone of the person; UTC for a person who has none. */
            readonly timeZone: string;
        };
        /** @description The access token is past its expiry. This is told for 24 hours; after that the answer is UNAUTHORIZED. */
        readonly TokenExpiredProblem: {
            /** @constant */
            readonly code: "TOKEN_EXPIRED";
            readonly detail: string;
            /** @description As in `X-Request-Id`. */
            readonly requestId: string;
            /** @constant */
            readonly status: 401;
            readonly title: string;
            /**
             * @description The address of a page about the code.
             * @constant
             */
            readonly type: "/problems/token-expired";
        };
        readonly TokenRequest: {
            readonly client_id?: string;
            readonly client_secret?: string;
            readonly code: string;
            readonly code_verifier?: string;
            /** @constant */
            readonly grant_type: "authorization_code";
            readonly redirect_uri: string;
        } | {
            readonly client_id?: string;
            readonly client_secret?: string;
            /** @constant */
            readonly grant_type: "refresh_token";
            readonly refresh_token: string;
            /**
             * @description One or more scopes, separated by spaces.
             * @example read:health-data:heart
             */
            readonly scope?: string;
        } | {
            readonly client_id?: string;
            readonly client_secret?: string;
            /** @constant */
            readonly grant_type: "client_credentials";
            /**
             * @description One or more scopes, separated by spaces.
             * @example read:health-data:heart
             */
            readonly scope?: string;
        };
        readonly Tokens: {
            readonly access_token: string;
            readonly expires_in: number;
            /** @description Absent for client credentials. */
            readonly grant_id?: string;
            /** @description Absent for client credentials. */
            readonly refresh_token?: string;
            /** @description The scopes that work now, separated by spaces. */
            readonly scope: string;
            /** @description The person. Absent for client credentials. */
            readonly sub?: string;
            /** @constant */
            readonly token_type: "Bearer";
        };
        readonly TrendPoint: {
            readonly average: number | null;
            /** @enum {string} */
            readonly bucket: "hour" | "day";
            readonly count: number;
            /**
             * Format: date-time
             * @description Exclusive; of the same part.
             */
            readonly end: string;
            readonly max: number | null;
            readonly min: number | null;
            /**
             * Format: date-time
             * @description Of the part of the bucket that lies in the window; with the offset of the zone.
             */
            readonly start: string;
            readonly sum: number | null;
            readonly type: components["schemas"]["MetricType"];
            readonly unit: string;
            readonly value: number | null;
        };
        /** @description The app is authenticated and may not do this. 403: `/oauth/grants` was asked with an access token that acts for a person. */
        readonly UnauthorizedClientError: {
            /** @constant */
            readonly code: "UNAUTHORIZED_CLIENT";
            /** @constant */
            readonly error: "unauthorized_client";
            readonly error_description: string;
        };
        /** @description The request could not be authenticated. Every cause has this one answer: no credentials or wrong ones, an unknown, suspended or revoked app, a revoked token or grant, a session where an access token belongs, and the reverse. */
        readonly UnauthorizedError: {
            /** @constant */
            readonly code: "UNAUTHORIZED";
            /** @constant */
            readonly error: "invalid_client";
            readonly error_description: string;
        };
        /** @description The request could not be authenticated. Every cause has this one answer: no credentials or wrong ones, an unknown, suspended or revoked app, a revoked token or grant, a session where an access token belongs, and the reverse. */
        readonly UnauthorizedProblem: {
            /** @constant */
            readonly code: "UNAUTHORIZED";
            readonly detail: string;
            /** @constant */
            readonly status: 401;
            readonly title: string;
            /**
             * @description The address of a page about the code.
             * @constant
             */
            readonly type: "/problems/unauthorized";
        };
        /** @description The token endpoint does not know this `grant_type`. */
        readonly UnsupportedGrantTypeError: {
            /** @constant */
            readonly code: "UNSUPPORTED_GRANT_TYPE";
            /** @constant */
            readonly error: "unsupported_grant_type";
            readonly error_description: string;
        };
        /** @description The path or the `API-Version` field asks for a version of the API that does not exist. */
        readonly UnsupportedVersionProblem: {
            /** @constant */
            readonly code: "UNSUPPORTED_VERSION";
            readonly detail: string;
            /** @description As in `X-Request-Id`. */
            readonly requestId: string;
            /** @constant */
            readonly status: 400;
            readonly supportedVersions: readonly string[];
            readonly title: string;
            /**
             * @description The address of a page about the code.
             * @constant
             */
            readonly type: "/problems/unsupported-version";
        };
        readonly Version: {
            /** Format: date-time */
            readonly deprecatedAt: string | null;
            readonly path: string;
            /** @enum {string} */
            readonly status: "current" | "deprecated";
            /** Format: date-time */
            readonly sunsetAt: string | null;
            readonly version: string;
        };
        readonly Violation: {
            readonly message: string;
            readonly parameter: string;
        };
        readonly Webhook: {
            /** Format: date-time */
            readonly createdAt: string;
            /**
             * @description `gone`: the receiver answered 410. Set the URL again to enable the endpoint.
             * @enum {string|null}
             */
            readonly disabledReason: "gone" | null;
            readonly events: readonly ("grant.revoked" | "grant.expired" | "grant.narrowed" | "data.updated")[];
            /**
             * Format: date-time
             * @description The first failed attempt since the last accepted one; null when the last one was accepted.
             */
            readonly failingSince: string | null;
            /**
             * Format: date-time
             * @description Until then the secret before signs as well; null when it does not.
             */
            readonly previousSecretExpiresAt: string | null;
            /** Format: date-time */
            readonly updatedAt: string;
            readonly url: string;
        };
        readonly WebhookDelivery: {
            /** @description The newest 20, oldest first. */
            readonly attempts: readonly {
                /** Format: date-time */
                readonly at: string;
                /**
                 * @description null when the receiver accepted it.
                 * @enum {string|null}
                 */
                readonly failure: "status" | "redirected" | "timed_out" | "name_not_resolved" | "address_not_allowed" | "tls_failed" | "connection_failed" | "grant_ended" | null;
                readonly ms: number;
                /** @description HTTP status of the receiver; null without an answer. */
                readonly status: number | null;
            }[];
            readonly body: components["schemas"]["WebhookEvent"];
            /** Format: date-time */
            readonly createdAt: string;
            readonly grantId: string | null;
            /** @description Of the event: `webhook-id`. */
            readonly id: string;
            /** Format: date-time */
            readonly nextAttemptAt: string | null;
            /** @enum {string} */
            readonly state: "pending" | "delivered" | "failed";
            /** @enum {string} */
            readonly type: "grant.revoked" | "grant.expired" | "grant.narrowed" | "data.updated" | "test";
        };
        readonly WebhookEvent: components["schemas"]["GrantRevokedEvent"] | components["schemas"]["GrantExpiredEvent"] | components["schemas"]["GrantNarrowedEvent"] | components["schemas"]["DataUpdatedEvent"] | components["schemas"]["TestEvent"];
        readonly WeightEntry: {
            /** Format: date */
            readonly date: string;
            /** @description Stable for one app; other apps get other ids for the same item. */
            readonly id: string;
            readonly weightKg: number;
        };
    };
    responses: {
        /** @description INVALID_REQUEST or UNSUPPORTED_VERSION */
        readonly "data.400.INVALID_REQUEST.UNSUPPORTED_VERSION": {
            headers: {
                readonly "API-Version": components["headers"]["Maybe-API-Version"];
                readonly "Cache-Control": components["headers"]["Cache-Control"];
                readonly Deprecation: components["headers"]["Deprecation"];
                readonly RateLimit: components["headers"]["Maybe-RateLimit"];
                readonly "RateLimit-Policy": components["headers"]["Maybe-RateLimit-Policy"];
                readonly Sunset: components["headers"]["Sunset"];
                readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/problem+json": components["schemas"]["InvalidRequestProblem"] | components["schemas"]["UnsupportedVersionProblem"];
            };
        };
        /** @description UNAUTHORIZED or TOKEN_EXPIRED */
        readonly "data.401.UNAUTHORIZED.TOKEN_EXPIRED": {
            headers: {
                readonly "API-Version": components["headers"]["Maybe-API-Version"];
                readonly "Cache-Control": components["headers"]["Cache-Control"];
                readonly Deprecation: components["headers"]["Deprecation"];
                readonly RateLimit: components["headers"]["Maybe-RateLimit"];
                readonly "RateLimit-Policy": components["headers"]["Maybe-RateLimit-Policy"];
                readonly Sunset: components["headers"]["Sunset"];
                readonly "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                readonly "X-Request-Id": components["headers"]["Maybe-X-Request-Id"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/problem+json": components["schemas"]["UnauthorizedProblem"] | components["schemas"]["TokenExpiredProblem"];
            };
        };
        /** @description INSUFFICIENT_SCOPE or CONSENT_REQUIRED */
        readonly "data.403.INSUFFICIENT_SCOPE.CONSENT_REQUIRED": {
            headers: {
                readonly "API-Version": components["headers"]["Maybe-API-Version"];
                readonly "Cache-Control": components["headers"]["Cache-Control"];
                readonly Deprecation: components["headers"]["Deprecation"];
                readonly RateLimit: components["headers"]["Maybe-RateLimit"];
                readonly "RateLimit-Policy": components["headers"]["Maybe-RateLimit-Policy"];
                readonly Sunset: components["headers"]["Sunset"];
                readonly "WWW-Authenticate": components["headers"]["Maybe-WWW-Authenticate"];
                readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/problem+json": components["schemas"]["InsufficientScopeProblem"] | components["schemas"]["ConsentRequiredProblem"];
            };
        };
        /** @description NOT_FOUND */
        readonly "data.404.NOT_FOUND": {
            headers: {
                readonly "API-Version": components["headers"]["Maybe-API-Version"];
                readonly "Cache-Control": components["headers"]["Cache-Control"];
                readonly Deprecation: components["headers"]["Deprecation"];
                readonly RateLimit: components["headers"]["Maybe-RateLimit"];
                readonly "RateLimit-Policy": components["headers"]["Maybe-RateLimit-Policy"];
                readonly Sunset: components["headers"]["Sunset"];
                readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/problem+json": components["schemas"]["NotFoundProblem"];
            };
        };
        /** @description CURSOR_EXPIRED */
        readonly "data.410.CURSOR_EXPIRED": {
            headers: {
                readonly "API-Version": components["headers"]["Maybe-API-Version"];
                readonly "Cache-Control": components["headers"]["Cache-Control"];
                readonly Deprecation: components["headers"]["Deprecation"];
                readonly RateLimit: components["headers"]["Maybe-RateLimit"];
                readonly "RateLimit-Policy": components["headers"]["Maybe-RateLimit-Policy"];
                readonly Sunset: components["headers"]["Sunset"];
                readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/problem+json": components["schemas"]["CursorExpiredProblem"];
            };
        };
        /** @description RATE_LIMITED */
        readonly "data.429.RATE_LIMITED": {
            headers: {
                readonly "API-Version": components["headers"]["Maybe-API-Version"];
                readonly "Cache-Control": components["headers"]["Cache-Control"];
                readonly Deprecation: components["headers"]["Deprecation"];
                readonly RateLimit: components["headers"]["Maybe-RateLimit"];
                readonly "RateLimit-Policy": components["headers"]["Maybe-RateLimit-Policy"];
                readonly "Retry-After": components["headers"]["Retry-After"];
                readonly Sunset: components["headers"]["Sunset"];
                readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/problem+json": components["schemas"]["RateLimitedProblem"];
            };
        };
        /** @description INTERNAL_ERROR */
        readonly "data.500.INTERNAL_ERROR": {
            headers: {
                readonly "API-Version": components["headers"]["Maybe-API-Version"];
                readonly "Cache-Control": components["headers"]["Cache-Control"];
                readonly Deprecation: components["headers"]["Deprecation"];
                readonly RateLimit: components["headers"]["Maybe-RateLimit"];
                readonly "RateLimit-Policy": components["headers"]["Maybe-RateLimit-Policy"];
                readonly Sunset: components["headers"]["Sunset"];
                readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/problem+json": components["schemas"]["InternalErrorProblem"];
            };
        };
        /** @description ACCESS_NOT_RECORDED or INTERNAL_ERROR */
        readonly "data.503.ACCESS_NOT_RECORDED.INTERNAL_ERROR": {
            headers: {
                readonly "API-Version": components["headers"]["Maybe-API-Version"];
                readonly "Cache-Control": components["headers"]["Cache-Control"];
                readonly Deprecation: components["headers"]["Deprecation"];
                readonly RateLimit: components["headers"]["Maybe-RateLimit"];
                readonly "RateLimit-Policy": components["headers"]["Maybe-RateLimit-Policy"];
                readonly "Retry-After": components["headers"]["Retry-After"];
                readonly Sunset: components["headers"]["Sunset"];
                readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/problem+json": components["schemas"]["AccessNotRecordedProblem"] | components["schemas"]["InternalErrorProblem"];
            };
        };
        /** @description INVALID_REQUEST */
        readonly "oauth.400.INVALID_REQUEST": {
            headers: {
                readonly "Cache-Control": components["headers"]["Cache-Control"];
                readonly Pragma: components["headers"]["Pragma"];
                readonly RateLimit: components["headers"]["Maybe-RateLimit"];
                readonly "RateLimit-Policy": components["headers"]["Maybe-RateLimit-Policy"];
                readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["InvalidRequestError"];
            };
        };
        /** @description INVALID_REQUEST or INVALID_GRANT or INVALID_SCOPE or UNSUPPORTED_GRANT_TYPE */
        readonly "oauth.400.INVALID_REQUEST.INVALID_GRANT.INVALID_SCOPE.UNSUPPORTED_GRANT_TYPE": {
            headers: {
                readonly "Cache-Control": components["headers"]["Cache-Control"];
                readonly Pragma: components["headers"]["Pragma"];
                readonly RateLimit: components["headers"]["Maybe-RateLimit"];
                readonly "RateLimit-Policy": components["headers"]["Maybe-RateLimit-Policy"];
                readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["InvalidRequestError"] | components["schemas"]["InvalidGrantError"] | components["schemas"]["InvalidScopeError"] | components["schemas"]["UnsupportedGrantTypeError"];
            };
        };
        /** @description INVALID_REQUEST or INVALID_SCOPE */
        readonly "oauth.400.INVALID_REQUEST.INVALID_SCOPE": {
            headers: {
                readonly "Cache-Control": components["headers"]["Cache-Control"];
                readonly Pragma: components["headers"]["Pragma"];
                readonly RateLimit: components["headers"]["Maybe-RateLimit"];
                readonly "RateLimit-Policy": components["headers"]["Maybe-RateLimit-Policy"];
                readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["InvalidRequestError"] | components["schemas"]["InvalidScopeError"];
            };
        };
        /** @description UNAUTHORIZED */
        readonly "oauth.401.UNAUTHORIZED": {
            headers: {
                readonly "Cache-Control": components["headers"]["Cache-Control"];
                readonly Pragma: components["headers"]["Pragma"];
                readonly "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["UnauthorizedError"];
            };
        };
        /** @description UNAUTHORIZED_CLIENT */
        readonly "oauth.403.UNAUTHORIZED_CLIENT": {
            headers: {
                readonly "Cache-Control": components["headers"]["Cache-Control"];
                readonly Pragma: components["headers"]["Pragma"];
                readonly RateLimit: components["headers"]["Maybe-RateLimit"];
                readonly "RateLimit-Policy": components["headers"]["Maybe-RateLimit-Policy"];
                readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["UnauthorizedClientError"];
            };
        };
        /** @description NOT_FOUND */
        readonly "oauth.404.NOT_FOUND": {
            headers: {
                readonly "Cache-Control": components["headers"]["Cache-Control"];
                readonly Pragma: components["headers"]["Pragma"];
                readonly RateLimit: components["headers"]["Maybe-RateLimit"];
                readonly "RateLimit-Policy": components["headers"]["Maybe-RateLimit-Policy"];
                readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["NotFoundError"];
            };
        };
        /** @description INVALID_REQUEST */
        readonly "oauth.413.INVALID_REQUEST": {
            headers: {
                readonly "Cache-Control": components["headers"]["Cache-Control"];
                readonly Pragma: components["headers"]["Pragma"];
                readonly RateLimit: components["headers"]["Maybe-RateLimit"];
                readonly "RateLimit-Policy": components["headers"]["Maybe-RateLimit-Policy"];
                readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["InvalidRequestError"];
            };
        };
        /** @description INVALID_REQUEST */
        readonly "oauth.415.INVALID_REQUEST": {
            headers: {
                readonly "Cache-Control": components["headers"]["Cache-Control"];
                readonly Pragma: components["headers"]["Pragma"];
                readonly RateLimit: components["headers"]["Maybe-RateLimit"];
                readonly "RateLimit-Policy": components["headers"]["Maybe-RateLimit-Policy"];
                readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["InvalidRequestError"];
            };
        };
        /** @description RATE_LIMITED */
        readonly "oauth.429.RATE_LIMITED": {
            headers: {
                readonly "Cache-Control": components["headers"]["Cache-Control"];
                readonly Pragma: components["headers"]["Pragma"];
                readonly RateLimit: components["headers"]["Maybe-RateLimit"];
                readonly "RateLimit-Policy": components["headers"]["Maybe-RateLimit-Policy"];
                readonly "Retry-After": components["headers"]["Retry-After"];
                readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["RateLimitedError"];
            };
        };
        /** @description INTERNAL_ERROR */
        readonly "oauth.500.INTERNAL_ERROR": {
            headers: {
                readonly "Cache-Control": components["headers"]["Cache-Control"];
                readonly Pragma: components["headers"]["Pragma"];
                readonly RateLimit: components["headers"]["Maybe-RateLimit"];
                readonly "RateLimit-Policy": components["headers"]["Maybe-RateLimit-Policy"];
                readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["InternalErrorError"];
            };
        };
        /** @description INTERNAL_ERROR */
        readonly "oauth.503.INTERNAL_ERROR": {
            headers: {
                readonly "Cache-Control": components["headers"]["Cache-Control"];
                readonly Pragma: components["headers"]["Pragma"];
                readonly RateLimit: components["headers"]["Maybe-RateLimit"];
                readonly "RateLimit-Policy": components["headers"]["Maybe-RateLimit-Policy"];
                readonly "Retry-After": components["headers"]["Retry-After"];
                readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["InternalErrorError"];
            };
        };
        /** @description INVALID_REQUEST */
        readonly "problem.400.INVALID_REQUEST": {
            headers: {
                readonly "Cache-Control": components["headers"]["Cache-Control"];
                readonly RateLimit: components["headers"]["Maybe-RateLimit"];
                readonly "RateLimit-Policy": components["headers"]["Maybe-RateLimit-Policy"];
                readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/problem+json": components["schemas"]["InvalidRequestProblem"];
            };
        };
        /** @description INVALID_REQUEST or NO_SCOPES_APPROVED */
        readonly "problem.400.INVALID_REQUEST.NO_SCOPES_APPROVED": {
            headers: {
                readonly "Cache-Control": components["headers"]["Cache-Control"];
                readonly RateLimit: components["headers"]["Maybe-RateLimit"];
                readonly "RateLimit-Policy": components["headers"]["Maybe-RateLimit-Policy"];
                readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/problem+json": components["schemas"]["InvalidRequestProblem"] | components["schemas"]["NoScopesApprovedProblem"];
            };
        };
        /** @description UNAUTHORIZED */
        readonly "problem.401.UNAUTHORIZED": {
            headers: {
                readonly "Cache-Control": components["headers"]["Cache-Control"];
                readonly "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/problem+json": components["schemas"]["UnauthorizedProblem"];
            };
        };
        /** @description NOT_A_DEVELOPER */
        readonly "problem.403.NOT_A_DEVELOPER": {
            headers: {
                readonly "Cache-Control": components["headers"]["Cache-Control"];
                readonly RateLimit: components["headers"]["Maybe-RateLimit"];
                readonly "RateLimit-Policy": components["headers"]["Maybe-RateLimit-Policy"];
                readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/problem+json": components["schemas"]["NotADeveloperProblem"];
            };
        };
        /** @description STEP_UP_REQUIRED */
        readonly "problem.403.STEP_UP_REQUIRED": {
            headers: {
                readonly "Cache-Control": components["headers"]["Cache-Control"];
                readonly RateLimit: components["headers"]["Maybe-RateLimit"];
                readonly "RateLimit-Policy": components["headers"]["Maybe-RateLimit-Policy"];
                readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/problem+json": components["schemas"]["StepUpRequiredProblem"];
            };
        };
        /** @description NOT_FOUND */
        readonly "problem.404.NOT_FOUND": {
            headers: {
                readonly "Cache-Control": components["headers"]["Cache-Control"];
                readonly RateLimit: components["headers"]["Maybe-RateLimit"];
                readonly "RateLimit-Policy": components["headers"]["Maybe-RateLimit-Policy"];
                readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/problem+json": components["schemas"]["NotFoundProblem"];
            };
        };
        /** @description APP_NOT_ACTIVE */
        readonly "problem.409.APP_NOT_ACTIVE": {
            headers: {
                readonly "Cache-Control": components["headers"]["Cache-Control"];
                readonly RateLimit: components["headers"]["Maybe-RateLimit"];
                readonly "RateLimit-Policy": components["headers"]["Maybe-RateLimit-Policy"];
                readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/problem+json": components["schemas"]["AppNotActiveProblem"];
            };
        };
        /** @description CONFLICT */
        readonly "problem.409.CONFLICT": {
            headers: {
                readonly "Cache-Control": components["headers"]["Cache-Control"];
                readonly RateLimit: components["headers"]["Maybe-RateLimit"];
                readonly "RateLimit-Policy": components["headers"]["Maybe-RateLimit-Policy"];
                readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/problem+json": components["schemas"]["ConflictProblem"];
            };
        };
        /** @description PENDING_EXPIRED or ALREADY_DECIDED */
        readonly "problem.409.PENDING_EXPIRED.ALREADY_DECIDED": {
            headers: {
                readonly "Cache-Control": components["headers"]["Cache-Control"];
                readonly RateLimit: components["headers"]["Maybe-RateLimit"];
                readonly "RateLimit-Policy": components["headers"]["Maybe-RateLimit-Policy"];
                readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/problem+json": components["schemas"]["PendingExpiredProblem"] | components["schemas"]["AlreadyDecidedProblem"];
            };
        };
        /** @description PENDING_EXPIRED or ALREADY_DECIDED or CONFLICT */
        readonly "problem.409.PENDING_EXPIRED.ALREADY_DECIDED.CONFLICT": {
            headers: {
                readonly "Cache-Control": components["headers"]["Cache-Control"];
                readonly RateLimit: components["headers"]["Maybe-RateLimit"];
                readonly "RateLimit-Policy": components["headers"]["Maybe-RateLimit-Policy"];
                readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/problem+json": components["schemas"]["PendingExpiredProblem"] | components["schemas"]["AlreadyDecidedProblem"] | components["schemas"]["ConflictProblem"];
            };
        };
        /** @description PENDING_EXPIRED or ALREADY_DECIDED or CONFLICT or APP_NOT_ACTIVE */
        readonly "problem.409.PENDING_EXPIRED.ALREADY_DECIDED.CONFLICT.APP_NOT_ACTIVE": {
            headers: {
                readonly "Cache-Control": components["headers"]["Cache-Control"];
                readonly RateLimit: components["headers"]["Maybe-RateLimit"];
                readonly "RateLimit-Policy": components["headers"]["Maybe-RateLimit-Policy"];
                readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/problem+json": components["schemas"]["PendingExpiredProblem"] | components["schemas"]["AlreadyDecidedProblem"] | components["schemas"]["ConflictProblem"] | components["schemas"]["AppNotActiveProblem"];
            };
        };
        /** @description INVALID_REQUEST */
        readonly "problem.413.INVALID_REQUEST": {
            headers: {
                readonly "Cache-Control": components["headers"]["Cache-Control"];
                readonly RateLimit: components["headers"]["Maybe-RateLimit"];
                readonly "RateLimit-Policy": components["headers"]["Maybe-RateLimit-Policy"];
                readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/problem+json": components["schemas"]["InvalidRequestProblem"];
            };
        };
        /** @description INVALID_REQUEST */
        readonly "problem.415.INVALID_REQUEST": {
            headers: {
                readonly "Cache-Control": components["headers"]["Cache-Control"];
                readonly RateLimit: components["headers"]["Maybe-RateLimit"];
                readonly "RateLimit-Policy": components["headers"]["Maybe-RateLimit-Policy"];
                readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/problem+json": components["schemas"]["InvalidRequestProblem"];
            };
        };
        /** @description RATE_LIMITED */
        readonly "problem.429.RATE_LIMITED": {
            headers: {
                readonly "Cache-Control": components["headers"]["Cache-Control"];
                readonly RateLimit: components["headers"]["Maybe-RateLimit"];
                readonly "RateLimit-Policy": components["headers"]["Maybe-RateLimit-Policy"];
                readonly "Retry-After": components["headers"]["Retry-After"];
                readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/problem+json": components["schemas"]["RateLimitedProblem"];
            };
        };
        /** @description INTERNAL_ERROR */
        readonly "problem.500.INTERNAL_ERROR": {
            headers: {
                readonly "Cache-Control": components["headers"]["Cache-Control"];
                readonly RateLimit: components["headers"]["Maybe-RateLimit"];
                readonly "RateLimit-Policy": components["headers"]["Maybe-RateLimit-Policy"];
                readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/problem+json": components["schemas"]["InternalErrorProblem"];
            };
        };
        /** @description INTERNAL_ERROR */
        readonly "problem.503.INTERNAL_ERROR": {
            headers: {
                readonly "Cache-Control": components["headers"]["Cache-Control"];
                readonly RateLimit: components["headers"]["Maybe-RateLimit"];
                readonly "RateLimit-Policy": components["headers"]["Maybe-RateLimit-Policy"];
                readonly "Retry-After": components["headers"]["Retry-After"];
                readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/problem+json": components["schemas"]["InternalErrorProblem"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: {
        /** @description Open to every origin. */
        readonly "Access-Control-Allow-Origin": "*";
        /** @description The version of the API that answered. */
        readonly "API-Version": "1";
        /** @description Whether and how long the answer may be kept. */
        readonly "Cache-Control": string;
        /** @description The name of the file. */
        readonly "Content-Disposition": string;
        /** @description Since when this version is deprecated (RFC 9745). Absent while it is not. */
        readonly Deprecation: string;
        /** @description Names this state of the body. Send it in `If-None-Match` to get 304 if nothing has changed. */
        readonly ETag: string;
        /** @description Addresses of other pages (RFC 8288), relative to the request: `first`, `prev`, `next`, `last`. */
        readonly Link: string;
        /** @description Where to go on. */
        readonly Location: string;
        /** @description The version of the API that answered. */
        readonly "Maybe-API-Version": "1";
        /** @description For caches of HTTP/1.0 (RFC 6749 5.1). */
        readonly "Maybe-Pragma": "no-cache";
        /** @description Requests left (`r`), and seconds until all are there again (`t`). */
        readonly "Maybe-RateLimit": string;
        /** @description The name of the limit, its requests (`q`) and its seconds (`w`). */
        readonly "Maybe-RateLimit-Policy": string;
        /** @description Removes the session cookie. */
        readonly "Maybe-Set-Cookie": string;
        /** @description Which credential is asked for (RFC 6750). */
        readonly "Maybe-WWW-Authenticate": string;
        /** @description The id of this request. Give it to the operator with a question about the answer. */
        readonly "Maybe-X-Request-Id": string;
        /** @description For caches of HTTP/1.0 (RFC 6749 5.1). */
        readonly Pragma: "no-cache";
        /** @description Requests left (`r`), and seconds until all are there again (`t`). */
        readonly RateLimit: string;
        /** @description The name of the limit, its requests (`q`) and its seconds (`w`). */
        readonly "RateLimit-Policy": string;
        /** @description Seconds to wait before the same request. */
        readonly "Retry-After": number;
        /** @description Removes the session cookie. */
        readonly "Set-Cookie": string;
        /** @description When this version is removed (RFC 8594). Absent while no date is set. */
        readonly Sunset: string;
        /** @description Which credential is asked for (RFC 6750). */
        readonly "WWW-Authenticate": string;
        /** @description The id of this request. Give it to the operator with a question about the answer. */
        readonly "X-Request-Id": string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    readonly getReceiptKeys: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The document. */
            readonly 200: {
                headers: {
                    readonly "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly keys: readonly {
                            /** @constant */
                            readonly alg: "EdDSA";
                            /** @constant */
                            readonly crv: "Ed25519";
                            readonly kid: string;
                            /** @constant */
                            readonly kty: "OKP";
                            /** @constant */
                            readonly use: "sig";
                            readonly x: string;
                        }[];
                    };
                };
            };
            readonly 400: components["responses"]["problem.400.INVALID_REQUEST"];
        };
    };
    readonly getServerMetadata: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The document. */
            readonly 200: {
                headers: {
                    readonly "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ServerMetadata"];
                };
            };
            readonly 400: components["responses"]["problem.400.INVALID_REQUEST"];
        };
    };
    readonly getAggregations: {
        readonly parameters: {
            readonly query?: {
                /** @description Inclusive: a date (2026-03-01) or an RFC 3339 instant. */
                readonly from?: string;
                /** @description IANA time zone; if absent, that of the person. */
                readonly timeZone?: string;
                /** @description Exclusive: a date or an RFC 3339 instant. */
                readonly to?: string;
                /** @description A kind of measurement. */
                readonly type?: components["schemas"]["MetricType"];
            };
            readonly header?: {
                /** @description The version of the API that the client expects. */
                readonly "API-Version"?: "1";
                /** @description The `ETag` of an earlier answer: 304 if nothing has changed. */
                readonly "If-None-Match"?: string;
                /** @description Sandbox apps only: the code of an error of this operation, which is then answered as if it had happened. Ignored for live apps. */
                readonly "Sandbox-Force"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The data. */
            readonly 200: {
                headers: {
                    readonly "API-Version": components["headers"]["API-Version"];
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly Deprecation: components["headers"]["Deprecation"];
                    readonly ETag: components["headers"]["ETag"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly Sunset: components["headers"]["Sunset"];
                    readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: components["schemas"]["Aggregations"];
                    };
                };
            };
            /** @description Not changed since the entity tag in `If-None-Match`. */
            readonly 304: {
                headers: {
                    readonly "API-Version": components["headers"]["API-Version"];
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly Deprecation: components["headers"]["Deprecation"];
                    readonly ETag: components["headers"]["ETag"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly Sunset: components["headers"]["Sunset"];
                    readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["data.400.INVALID_REQUEST.UNSUPPORTED_VERSION"];
            readonly 401: components["responses"]["data.401.UNAUTHORIZED.TOKEN_EXPIRED"];
            readonly 403: components["responses"]["data.403.INSUFFICIENT_SCOPE.CONSENT_REQUIRED"];
            readonly 429: components["responses"]["data.429.RATE_LIMITED"];
            readonly 500: components["responses"]["data.500.INTERNAL_ERROR"];
            readonly 503: components["responses"]["data.503.ACCESS_NOT_RECORDED.INTERNAL_ERROR"];
        };
    };
    readonly getAllergies: {
        readonly parameters: {
            readonly query?: {
                /** @description Inclusive: a date (2026-03-01) or an RFC 3339 instant. */
                readonly from?: string;
                /** @description Which page. */
                readonly page?: number;
                /** @description Items on a page: 1 to 100; more is taken as 100. */
                readonly pageSize?: number;
                /** @description Exclusive: a date or an RFC 3339 instant. */
                readonly to?: string;
            };
            readonly header?: {
                /** @description The version of the API that the client expects. */
                readonly "API-Version"?: "1";
                /** @description The `ETag` of an earlier answer: 304 if nothing has changed. */
                readonly "If-None-Match"?: string;
                /** @description Sandbox apps only: the code of an error of this operation, which is then answered as if it had happened. Ignored for live apps. */
                readonly "Sandbox-Force"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The data. */
            readonly 200: {
                headers: {
                    readonly "API-Version": components["headers"]["API-Version"];
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly Deprecation: components["headers"]["Deprecation"];
                    readonly ETag: components["headers"]["ETag"];
                    readonly Link: components["headers"]["Link"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly Sunset: components["headers"]["Sunset"];
                    readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: readonly components["schemas"]["Allergy"][];
                        readonly pagination: components["schemas"]["Pagination"];
                    };
                };
            };
            /** @description Not changed since the entity tag in `If-None-Match`. */
            readonly 304: {
                headers: {
                    readonly "API-Version": components["headers"]["API-Version"];
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly Deprecation: components["headers"]["Deprecation"];
                    readonly ETag: components["headers"]["ETag"];
                    readonly Link: components["headers"]["Link"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly Sunset: components["headers"]["Sunset"];
                    readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["data.400.INVALID_REQUEST.UNSUPPORTED_VERSION"];
            readonly 401: components["responses"]["data.401.UNAUTHORIZED.TOKEN_EXPIRED"];
            readonly 403: components["responses"]["data.403.INSUFFICIENT_SCOPE.CONSENT_REQUIRED"];
            readonly 429: components["responses"]["data.429.RATE_LIMITED"];
            readonly 500: components["responses"]["data.500.INTERNAL_ERROR"];
            readonly 503: components["responses"]["data.503.ACCESS_NOT_RECORDED.INTERNAL_ERROR"];
        };
    };
    readonly getAppointments: {
        readonly parameters: {
            readonly query?: {
                /** @description Inclusive: a date (2026-03-01) or an RFC 3339 instant. */
                readonly from?: string;
                /** @description Which page. */
                readonly page?: number;
                /** @description Items on a page: 1 to 100; more is taken as 100. */
                readonly pageSize?: number;
                /** @description Exclusive: a date or an RFC 3339 instant. */
                readonly to?: string;
            };
            readonly header?: {
                /** @description The version of the API that the client expects. */
                readonly "API-Version"?: "1";
                /** @description The `ETag` of an earlier answer: 304 if nothing has changed. */
                readonly "If-None-Match"?: string;
                /** @description Sandbox apps only: the code of an error of this operation, which is then answered as if it had happened. Ignored for live apps. */
                readonly "Sandbox-Force"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The data. */
            readonly 200: {
                headers: {
                    readonly "API-Version": components["headers"]["API-Version"];
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly Deprecation: components["headers"]["Deprecation"];
                    readonly ETag: components["headers"]["ETag"];
                    readonly Link: components["headers"]["Link"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly Sunset: components["headers"]["Sunset"];
                    readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: readonly components["schemas"]["Appointment"][];
                        readonly pagination: components["schemas"]["Pagination"];
                    };
                };
            };
            /** @description Not changed since the entity tag in `If-None-Match`. */
            readonly 304: {
                headers: {
                    readonly "API-Version": components["headers"]["API-Version"];
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly Deprecation: components["headers"]["Deprecation"];
                    readonly ETag: components["headers"]["ETag"];
                    readonly Link: components["headers"]["Link"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly Sunset: components["headers"]["Sunset"];
                    readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["data.400.INVALID_REQUEST.UNSUPPORTED_VERSION"];
            readonly 401: components["responses"]["data.401.UNAUTHORIZED.TOKEN_EXPIRED"];
            readonly 403: components["responses"]["data.403.INSUFFICIENT_SCOPE.CONSENT_REQUIRED"];
            readonly 429: components["responses"]["data.429.RATE_LIMITED"];
            readonly 500: components["responses"]["data.500.INTERNAL_ERROR"];
            readonly 503: components["responses"]["data.503.ACCESS_NOT_RECORDED.INTERNAL_ERROR"];
        };
    };
    readonly getConditions: {
        readonly parameters: {
            readonly query?: {
                /** @description Inclusive: a date (2026-03-01) or an RFC 3339 instant. */
                readonly from?: string;
                /** @description Which page. */
                readonly page?: number;
                /** @description Items on a page: 1 to 100; more is taken as 100. */
                readonly pageSize?: number;
                /** @description Exclusive: a date or an RFC 3339 instant. */
                readonly to?: string;
            };
            readonly header?: {
                /** @description The version of the API that the client expects. */
                readonly "API-Version"?: "1";
                /** @description The `ETag` of an earlier answer: 304 if nothing has changed. */
                readonly "If-None-Match"?: string;
                /** @description Sandbox apps only: the code of an error of this operation, which is then answered as if it had happened. Ignored for live apps. */
                readonly "Sandbox-Force"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The data. */
            readonly 200: {
                headers: {
                    readonly "API-Version": components["headers"]["API-Version"];
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly Deprecation: components["headers"]["Deprecation"];
                    readonly ETag: components["headers"]["ETag"];
                    readonly Link: components["headers"]["Link"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly Sunset: components["headers"]["Sunset"];
                    readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: readonly components["schemas"]["Condition"][];
                        readonly pagination: components["schemas"]["Pagination"];
                    };
                };
            };
            /** @description Not changed since the entity tag in `If-None-Match`. */
            readonly 304: {
                headers: {
                    readonly "API-Version": components["headers"]["API-Version"];
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly Deprecation: components["headers"]["Deprecation"];
                    readonly ETag: components["headers"]["ETag"];
                    readonly Link: components["headers"]["Link"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly Sunset: components["headers"]["Sunset"];
                    readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["data.400.INVALID_REQUEST.UNSUPPORTED_VERSION"];
            readonly 401: components["responses"]["data.401.UNAUTHORIZED.TOKEN_EXPIRED"];
            readonly 403: components["responses"]["data.403.INSUFFICIENT_SCOPE.CONSENT_REQUIRED"];
            readonly 429: components["responses"]["data.429.RATE_LIMITED"];
            readonly 500: components["responses"]["data.500.INTERNAL_ERROR"];
            readonly 503: components["responses"]["data.503.ACCESS_NOT_RECORDED.INTERNAL_ERROR"];
        };
    };
    readonly getEhr: {
        readonly parameters: {
            readonly query?: {
                /** @description Inclusive: a date (2026-03-01) or an RFC 3339 instant. */
                readonly from?: string;
                /** @description Which page. */
                readonly page?: number;
                /** @description Items on a page: 1 to 100; more is taken as 100. */
                readonly pageSize?: number;
                /** @description Exclusive: a date or an RFC 3339 instant. */
                readonly to?: string;
            };
            readonly header?: {
                /** @description The version of the API that the client expects. */
                readonly "API-Version"?: "1";
                /** @description The `ETag` of an earlier answer: 304 if nothing has changed. */
                readonly "If-None-Match"?: string;
                /** @description Sandbox apps only: the code of an error of this operation, which is then answered as if it had happened. Ignored for live apps. */
                readonly "Sandbox-Force"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The data. */
            readonly 200: {
                headers: {
                    readonly "API-Version": components["headers"]["API-Version"];
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly Deprecation: components["headers"]["Deprecation"];
                    readonly ETag: components["headers"]["ETag"];
                    readonly Link: components["headers"]["Link"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly Sunset: components["headers"]["Sunset"];
                    readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: readonly components["schemas"]["EhrRecord"][];
                        readonly pagination: components["schemas"]["Pagination"];
                    };
                };
            };
            /** @description Not changed since the entity tag in `If-None-Match`. */
            readonly 304: {
                headers: {
                    readonly "API-Version": components["headers"]["API-Version"];
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly Deprecation: components["headers"]["Deprecation"];
                    readonly ETag: components["headers"]["ETag"];
                    readonly Link: components["headers"]["Link"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly Sunset: components["headers"]["Sunset"];
                    readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["data.400.INVALID_REQUEST.UNSUPPORTED_VERSION"];
            readonly 401: components["responses"]["data.401.UNAUTHORIZED.TOKEN_EXPIRED"];
            readonly 403: components["responses"]["data.403.INSUFFICIENT_SCOPE.CONSENT_REQUIRED"];
            readonly 429: components["responses"]["data.429.RATE_LIMITED"];
            readonly 500: components["responses"]["data.500.INTERNAL_ERROR"];
            readonly 503: components["responses"]["data.503.ACCESS_NOT_RECORDED.INTERNAL_ERROR"];
        };
    };
    readonly getHealthData: {
        readonly parameters: {
            readonly query?: {
                /** @description Inclusive: a date (2026-03-01) or an RFC 3339 instant. */
                readonly from?: string;
                /** @description Which page. */
                readonly page?: number;
                /** @description Items on a page: 1 to 100; more is taken as 100. */
                readonly pageSize?: number;
                /** @description Exclusive: a date or an RFC 3339 instant. */
                readonly to?: string;
                /** @description A kind of measurement. */
                readonly type?: components["schemas"]["MetricType"];
                /** @description Changes since an RFC 3339 instant or a cursor, the oldest first, in place of the list. Excludes `page`, `from` and `to`. */
                readonly updatedSince?: string;
            };
            readonly header?: {
                /** @description The version of the API that the client expects. */
                readonly "API-Version"?: "1";
                /** @description The `ETag` of an earlier answer: 304 if nothing has changed. */
                readonly "If-None-Match"?: string;
                /** @description Sandbox apps only: the code of an error of this operation, which is then answered as if it had happened. Ignored for live apps. */
                readonly "Sandbox-Force"?: string;
            };
            readonly path: {
                /** @description A category of readings. */
                readonly category: components["schemas"]["Category"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The data. */
            readonly 200: {
                headers: {
                    readonly "API-Version": components["headers"]["API-Version"];
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly Deprecation: components["headers"]["Deprecation"];
                    readonly ETag: components["headers"]["ETag"];
                    readonly Link: components["headers"]["Link"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly Sunset: components["headers"]["Sunset"];
                    readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: readonly components["schemas"]["Reading"][];
                        readonly pagination: components["schemas"]["Pagination"];
                    } | components["schemas"]["Changes"];
                };
            };
            /** @description Not changed since the entity tag in `If-None-Match`. */
            readonly 304: {
                headers: {
                    readonly "API-Version": components["headers"]["API-Version"];
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly Deprecation: components["headers"]["Deprecation"];
                    readonly ETag: components["headers"]["ETag"];
                    readonly Link: components["headers"]["Link"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly Sunset: components["headers"]["Sunset"];
                    readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["data.400.INVALID_REQUEST.UNSUPPORTED_VERSION"];
            readonly 401: components["responses"]["data.401.UNAUTHORIZED.TOKEN_EXPIRED"];
            readonly 403: components["responses"]["data.403.INSUFFICIENT_SCOPE.CONSENT_REQUIRED"];
            readonly 404: components["responses"]["data.404.NOT_FOUND"];
            readonly 410: components["responses"]["data.410.CURSOR_EXPIRED"];
            readonly 429: components["responses"]["data.429.RATE_LIMITED"];
            readonly 500: components["responses"]["data.500.INTERNAL_ERROR"];
            readonly 503: components["responses"]["data.503.ACCESS_NOT_RECORDED.INTERNAL_ERROR"];
        };
    };
    readonly getMedications: {
        readonly parameters: {
            readonly query?: {
                /** @description Which page. */
                readonly page?: number;
                /** @description Items on a page: 1 to 100; more is taken as 100. */
                readonly pageSize?: number;
            };
            readonly header?: {
                /** @description The version of the API that the client expects. */
                readonly "API-Version"?: "1";
                /** @description The `ETag` of an earlier answer: 304 if nothing has changed. */
                readonly "If-None-Match"?: string;
                /** @description Sandbox apps only: the code of an error of this operation, which is then answered as if it had happened. Ignored for live apps. */
                readonly "Sandbox-Force"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The data. */
            readonly 200: {
                headers: {
                    readonly "API-Version": components["headers"]["API-Version"];
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly Deprecation: components["headers"]["Deprecation"];
                    readonly ETag: components["headers"]["ETag"];
                    readonly Link: components["headers"]["Link"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly Sunset: components["headers"]["Sunset"];
                    readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: readonly components["schemas"]["Medication"][];
                        readonly pagination: components["schemas"]["Pagination"];
                    };
                };
            };
            /** @description Not changed since the entity tag in `If-None-Match`. */
            readonly 304: {
                headers: {
                    readonly "API-Version": components["headers"]["API-Version"];
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly Deprecation: components["headers"]["Deprecation"];
                    readonly ETag: components["headers"]["ETag"];
                    readonly Link: components["headers"]["Link"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly Sunset: components["headers"]["Sunset"];
                    readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["data.400.INVALID_REQUEST.UNSUPPORTED_VERSION"];
            readonly 401: components["responses"]["data.401.UNAUTHORIZED.TOKEN_EXPIRED"];
            readonly 403: components["responses"]["data.403.INSUFFICIENT_SCOPE.CONSENT_REQUIRED"];
            readonly 429: components["responses"]["data.429.RATE_LIMITED"];
            readonly 500: components["responses"]["data.500.INTERNAL_ERROR"];
            readonly 503: components["responses"]["data.503.ACCESS_NOT_RECORDED.INTERNAL_ERROR"];
        };
    };
    readonly getAdherence: {
        readonly parameters: {
            readonly query?: {
                /** @description Inclusive: a date (2026-03-01) or an RFC 3339 instant. */
                readonly from?: string;
                /** @description Which page. */
                readonly page?: number;
                /** @description Items on a page: 1 to 100; more is taken as 100. */
                readonly pageSize?: number;
                /** @description Exclusive: a date or an RFC 3339 instant. */
                readonly to?: string;
            };
            readonly header?: {
                /** @description The version of the API that the client expects. */
                readonly "API-Version"?: "1";
                /** @description The `ETag` of an earlier answer: 304 if nothing has changed. */
                readonly "If-None-Match"?: string;
                /** @description Sandbox apps only: the code of an error of this operation, which is then answered as if it had happened. Ignored for live apps. */
                readonly "Sandbox-Force"?: string;
            };
            readonly path: {
                /** @description Id of the medication. */
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The data. */
            readonly 200: {
                headers: {
                    readonly "API-Version": components["headers"]["API-Version"];
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly Deprecation: components["headers"]["Deprecation"];
                    readonly ETag: components["headers"]["ETag"];
                    readonly Link: components["headers"]["Link"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly Sunset: components["headers"]["Sunset"];
                    readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: readonly components["schemas"]["Dose"][];
                        readonly pagination: components["schemas"]["Pagination"];
                    };
                };
            };
            /** @description Not changed since the entity tag in `If-None-Match`. */
            readonly 304: {
                headers: {
                    readonly "API-Version": components["headers"]["API-Version"];
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly Deprecation: components["headers"]["Deprecation"];
                    readonly ETag: components["headers"]["ETag"];
                    readonly Link: components["headers"]["Link"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly Sunset: components["headers"]["Sunset"];
                    readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["data.400.INVALID_REQUEST.UNSUPPORTED_VERSION"];
            readonly 401: components["responses"]["data.401.UNAUTHORIZED.TOKEN_EXPIRED"];
            readonly 403: components["responses"]["data.403.INSUFFICIENT_SCOPE.CONSENT_REQUIRED"];
            readonly 404: components["responses"]["data.404.NOT_FOUND"];
            readonly 429: components["responses"]["data.429.RATE_LIMITED"];
            readonly 500: components["responses"]["data.500.INTERNAL_ERROR"];
            readonly 503: components["responses"]["data.503.ACCESS_NOT_RECORDED.INTERNAL_ERROR"];
        };
    };
    readonly getMood: {
        readonly parameters: {
            readonly query?: {
                /** @description Inclusive: a date (2026-03-01) or an RFC 3339 instant. */
                readonly from?: string;
                /** @description Which page. */
                readonly page?: number;
                /** @description Items on a page: 1 to 100; more is taken as 100. */
                readonly pageSize?: number;
                /** @description Exclusive: a date or an RFC 3339 instant. */
                readonly to?: string;
            };
            readonly header?: {
                /** @description The version of the API that the client expects. */
                readonly "API-Version"?: "1";
                /** @description The `ETag` of an earlier answer: 304 if nothing has changed. */
                readonly "If-None-Match"?: string;
                /** @description Sandbox apps only: the code of an error of this operation, which is then answered as if it had happened. Ignored for live apps. */
                readonly "Sandbox-Force"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The data. */
            readonly 200: {
                headers: {
                    readonly "API-Version": components["headers"]["API-Version"];
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly Deprecation: components["headers"]["Deprecation"];
                    readonly ETag: components["headers"]["ETag"];
                    readonly Link: components["headers"]["Link"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly Sunset: components["headers"]["Sunset"];
                    readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: readonly components["schemas"]["MoodEntry"][];
                        readonly pagination: components["schemas"]["Pagination"];
                    };
                };
            };
            /** @description Not changed since the entity tag in `If-None-Match`. */
            readonly 304: {
                headers: {
                    readonly "API-Version": components["headers"]["API-Version"];
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly Deprecation: components["headers"]["Deprecation"];
                    readonly ETag: components["headers"]["ETag"];
                    readonly Link: components["headers"]["Link"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly Sunset: components["headers"]["Sunset"];
                    readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["data.400.INVALID_REQUEST.UNSUPPORTED_VERSION"];
            readonly 401: components["responses"]["data.401.UNAUTHORIZED.TOKEN_EXPIRED"];
            readonly 403: components["responses"]["data.403.INSUFFICIENT_SCOPE.CONSENT_REQUIRED"];
            readonly 429: components["responses"]["data.429.RATE_LIMITED"];
            readonly 500: components["responses"]["data.500.INTERNAL_ERROR"];
            readonly 503: components["responses"]["data.503.ACCESS_NOT_RECORDED.INTERNAL_ERROR"];
        };
    };
    readonly getProfile: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description The version of the API that the client expects. */
                readonly "API-Version"?: "1";
                /** @description The `ETag` of an earlier answer: 304 if nothing has changed. */
                readonly "If-None-Match"?: string;
                /** @description Sandbox apps only: the code of an error of this operation, which is then answered as if it had happened. Ignored for live apps. */
                readonly "Sandbox-Force"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The data. */
            readonly 200: {
                headers: {
                    readonly "API-Version": components["headers"]["API-Version"];
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly Deprecation: components["headers"]["Deprecation"];
                    readonly ETag: components["headers"]["ETag"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly Sunset: components["headers"]["Sunset"];
                    readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: components["schemas"]["Profile"];
                    };
                };
            };
            /** @description Not changed since the entity tag in `If-None-Match`. */
            readonly 304: {
                headers: {
                    readonly "API-Version": components["headers"]["API-Version"];
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly Deprecation: components["headers"]["Deprecation"];
                    readonly ETag: components["headers"]["ETag"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly Sunset: components["headers"]["Sunset"];
                    readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["data.400.INVALID_REQUEST.UNSUPPORTED_VERSION"];
            readonly 401: components["responses"]["data.401.UNAUTHORIZED.TOKEN_EXPIRED"];
            readonly 403: components["responses"]["data.403.INSUFFICIENT_SCOPE.CONSENT_REQUIRED"];
            readonly 429: components["responses"]["data.429.RATE_LIMITED"];
            readonly 500: components["responses"]["data.500.INTERNAL_ERROR"];
            readonly 503: components["responses"]["data.503.ACCESS_NOT_RECORDED.INTERNAL_ERROR"];
        };
    };
    readonly getReports: {
        readonly parameters: {
            readonly query?: {
                /** @description Inclusive: a date (2026-03-01) or an RFC 3339 instant. */
                readonly from?: string;
                /** @description Which page. */
                readonly page?: number;
                /** @description Items on a page: 1 to 100; more is taken as 100. */
                readonly pageSize?: number;
                /** @description Exclusive: a date or an RFC 3339 instant. */
                readonly to?: string;
            };
            readonly header?: {
                /** @description The version of the API that the client expects. */
                readonly "API-Version"?: "1";
                /** @description The `ETag` of an earlier answer: 304 if nothing has changed. */
                readonly "If-None-Match"?: string;
                /** @description Sandbox apps only: the code of an error of this operation, which is then answered as if it had happened. Ignored for live apps. */
                readonly "Sandbox-Force"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The data. */
            readonly 200: {
                headers: {
                    readonly "API-Version": components["headers"]["API-Version"];
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly Deprecation: components["headers"]["Deprecation"];
                    readonly ETag: components["headers"]["ETag"];
                    readonly Link: components["headers"]["Link"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly Sunset: components["headers"]["Sunset"];
                    readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: readonly components["schemas"]["Report"][];
                        readonly pagination: components["schemas"]["Pagination"];
                    };
                };
            };
            /** @description Not changed since the entity tag in `If-None-Match`. */
            readonly 304: {
                headers: {
                    readonly "API-Version": components["headers"]["API-Version"];
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly Deprecation: components["headers"]["Deprecation"];
                    readonly ETag: components["headers"]["ETag"];
                    readonly Link: components["headers"]["Link"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly Sunset: components["headers"]["Sunset"];
                    readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["data.400.INVALID_REQUEST.UNSUPPORTED_VERSION"];
            readonly 401: components["responses"]["data.401.UNAUTHORIZED.TOKEN_EXPIRED"];
            readonly 403: components["responses"]["data.403.INSUFFICIENT_SCOPE.CONSENT_REQUIRED"];
            readonly 429: components["responses"]["data.429.RATE_LIMITED"];
            readonly 500: components["responses"]["data.500.INTERNAL_ERROR"];
            readonly 503: components["responses"]["data.503.ACCESS_NOT_RECORDED.INTERNAL_ERROR"];
        };
    };
    readonly getSymptoms: {
        readonly parameters: {
            readonly query?: {
                /** @description Inclusive: a date (2026-03-01) or an RFC 3339 instant. */
                readonly from?: string;
                /** @description Which page. */
                readonly page?: number;
                /** @description Items on a page: 1 to 100; more is taken as 100. */
                readonly pageSize?: number;
                /** @description Exclusive: a date or an RFC 3339 instant. */
                readonly to?: string;
            };
            readonly header?: {
                /** @description The version of the API that the client expects. */
                readonly "API-Version"?: "1";
                /** @description The `ETag` of an earlier answer: 304 if nothing has changed. */
                readonly "If-None-Match"?: string;
                /** @description Sandbox apps only: the code of an error of this operation, which is then answered as if it had happened. Ignored for live apps. */
                readonly "Sandbox-Force"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The data. */
            readonly 200: {
                headers: {
                    readonly "API-Version": components["headers"]["API-Version"];
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly Deprecation: components["headers"]["Deprecation"];
                    readonly ETag: components["headers"]["ETag"];
                    readonly Link: components["headers"]["Link"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly Sunset: components["headers"]["Sunset"];
                    readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: readonly components["schemas"]["Symptom"][];
                        readonly pagination: components["schemas"]["Pagination"];
                    };
                };
            };
            /** @description Not changed since the entity tag in `If-None-Match`. */
            readonly 304: {
                headers: {
                    readonly "API-Version": components["headers"]["API-Version"];
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly Deprecation: components["headers"]["Deprecation"];
                    readonly ETag: components["headers"]["ETag"];
                    readonly Link: components["headers"]["Link"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly Sunset: components["headers"]["Sunset"];
                    readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["data.400.INVALID_REQUEST.UNSUPPORTED_VERSION"];
            readonly 401: components["responses"]["data.401.UNAUTHORIZED.TOKEN_EXPIRED"];
            readonly 403: components["responses"]["data.403.INSUFFICIENT_SCOPE.CONSENT_REQUIRED"];
            readonly 429: components["responses"]["data.429.RATE_LIMITED"];
            readonly 500: components["responses"]["data.500.INTERNAL_ERROR"];
            readonly 503: components["responses"]["data.503.ACCESS_NOT_RECORDED.INTERNAL_ERROR"];
        };
    };
    readonly getTimeZone: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description The version of the API that the client expects. */
                readonly "API-Version"?: "1";
                /** @description The `ETag` of an earlier answer: 304 if nothing has changed. */
                readonly "If-None-Match"?: string;
                /** @description Sandbox apps only: the code of an error of this operation, which is then answered as if it had happened. Ignored for live apps. */
                readonly "Sandbox-Force"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The data. */
            readonly 200: {
                headers: {
                    readonly "API-Version": components["headers"]["API-Version"];
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly Deprecation: components["headers"]["Deprecation"];
                    readonly ETag: components["headers"]["ETag"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly Sunset: components["headers"]["Sunset"];
                    readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: components["schemas"]["TimeZone"];
                    };
                };
            };
            /** @description Not changed since the entity tag in `If-None-Match`. */
            readonly 304: {
                headers: {
                    readonly "API-Version": components["headers"]["API-Version"];
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly Deprecation: components["headers"]["Deprecation"];
                    readonly ETag: components["headers"]["ETag"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly Sunset: components["headers"]["Sunset"];
                    readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["data.400.INVALID_REQUEST.UNSUPPORTED_VERSION"];
            readonly 401: components["responses"]["data.401.UNAUTHORIZED.TOKEN_EXPIRED"];
            readonly 403: components["responses"]["data.403.INSUFFICIENT_SCOPE.CONSENT_REQUIRED"];
            readonly 429: components["responses"]["data.429.RATE_LIMITED"];
            readonly 500: components["responses"]["data.500.INTERNAL_ERROR"];
            readonly 503: components["responses"]["data.503.ACCESS_NOT_RECORDED.INTERNAL_ERROR"];
        };
    };
    readonly getTrends: {
        readonly parameters: {
            readonly query?: {
                /** @description Width of a point. */
                readonly bucket?: "hour" | "day";
                /** @description Inclusive: a date (2026-03-01) or an RFC 3339 instant. */
                readonly from?: string;
                /** @description Which page. */
                readonly page?: number;
                /** @description Items on a page: 1 to 100; more is taken as 100. */
                readonly pageSize?: number;
                /** @description IANA time zone; if absent, that of the person. */
                readonly timeZone?: string;
                /** @description Exclusive: a date or an RFC 3339 instant. */
                readonly to?: string;
                /** @description A kind of measurement. */
                readonly type?: components["schemas"]["MetricType"];
            };
            readonly header?: {
                /** @description The version of the API that the client expects. */
                readonly "API-Version"?: "1";
                /** @description The `ETag` of an earlier answer: 304 if nothing has changed. */
                readonly "If-None-Match"?: string;
                /** @description Sandbox apps only: the code of an error of this operation, which is then answered as if it had happened. Ignored for live apps. */
                readonly "Sandbox-Force"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The data. */
            readonly 200: {
                headers: {
                    readonly "API-Version": components["headers"]["API-Version"];
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly Deprecation: components["headers"]["Deprecation"];
                    readonly ETag: components["headers"]["ETag"];
                    readonly Link: components["headers"]["Link"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly Sunset: components["headers"]["Sunset"];
                    readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: readonly components["schemas"]["TrendPoint"][];
                        readonly pagination: components["schemas"]["Pagination"];
                    };
                };
            };
            /** @description Not changed since the entity tag in `If-None-Match`. */
            readonly 304: {
                headers: {
                    readonly "API-Version": components["headers"]["API-Version"];
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly Deprecation: components["headers"]["Deprecation"];
                    readonly ETag: components["headers"]["ETag"];
                    readonly Link: components["headers"]["Link"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly Sunset: components["headers"]["Sunset"];
                    readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["data.400.INVALID_REQUEST.UNSUPPORTED_VERSION"];
            readonly 401: components["responses"]["data.401.UNAUTHORIZED.TOKEN_EXPIRED"];
            readonly 403: components["responses"]["data.403.INSUFFICIENT_SCOPE.CONSENT_REQUIRED"];
            readonly 429: components["responses"]["data.429.RATE_LIMITED"];
            readonly 500: components["responses"]["data.500.INTERNAL_ERROR"];
            readonly 503: components["responses"]["data.503.ACCESS_NOT_RECORDED.INTERNAL_ERROR"];
        };
    };
    readonly getWeight: {
        readonly parameters: {
            readonly query?: {
                /** @description Inclusive: a date (2026-03-01) or an RFC 3339 instant. */
                readonly from?: string;
                /** @description Which page. */
                readonly page?: number;
                /** @description Items on a page: 1 to 100; more is taken as 100. */
                readonly pageSize?: number;
                /** @description Exclusive: a date or an RFC 3339 instant. */
                readonly to?: string;
            };
            readonly header?: {
                /** @description The version of the API that the client expects. */
                readonly "API-Version"?: "1";
                /** @description The `ETag` of an earlier answer: 304 if nothing has changed. */
                readonly "If-None-Match"?: string;
                /** @description Sandbox apps only: the code of an error of this operation, which is then answered as if it had happened. Ignored for live apps. */
                readonly "Sandbox-Force"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The data. */
            readonly 200: {
                headers: {
                    readonly "API-Version": components["headers"]["API-Version"];
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly Deprecation: components["headers"]["Deprecation"];
                    readonly ETag: components["headers"]["ETag"];
                    readonly Link: components["headers"]["Link"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly Sunset: components["headers"]["Sunset"];
                    readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: readonly components["schemas"]["WeightEntry"][];
                        readonly pagination: components["schemas"]["Pagination"];
                    };
                };
            };
            /** @description Not changed since the entity tag in `If-None-Match`. */
            readonly 304: {
                headers: {
                    readonly "API-Version": components["headers"]["API-Version"];
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly Deprecation: components["headers"]["Deprecation"];
                    readonly ETag: components["headers"]["ETag"];
                    readonly Link: components["headers"]["Link"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly Sunset: components["headers"]["Sunset"];
                    readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["data.400.INVALID_REQUEST.UNSUPPORTED_VERSION"];
            readonly 401: components["responses"]["data.401.UNAUTHORIZED.TOKEN_EXPIRED"];
            readonly 403: components["responses"]["data.403.INSUFFICIENT_SCOPE.CONSENT_REQUIRED"];
            readonly 429: components["responses"]["data.429.RATE_LIMITED"];
            readonly 500: components["responses"]["data.500.INTERNAL_ERROR"];
            readonly 503: components["responses"]["data.503.ACCESS_NOT_RECORDED.INTERNAL_ERROR"];
        };
    };
    readonly listVersions: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The document. */
            readonly 200: {
                headers: {
                    readonly "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: readonly components["schemas"]["Version"][];
                    };
                };
            };
        };
    };
    readonly getCatalog: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The document. */
            readonly 200: {
                headers: {
                    readonly "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: {
                            readonly categories: readonly {
                                readonly slug: components["schemas"]["Category"];
                                readonly title: string;
                                readonly types: readonly components["schemas"]["MetricType"][];
                            }[];
                            readonly endpoints: readonly {
                                /** @enum {string} */
                                readonly envelope: "list" | "object";
                                /** @constant */
                                readonly method: "GET";
                                readonly parameters: readonly string[];
                                readonly path: string;
                                readonly scope: components["schemas"]["Scope"];
                            }[];
                            readonly scopes: readonly components["schemas"]["ScopeDescription"][];
                            readonly types: readonly {
                                readonly additive: boolean;
                                readonly category: components["schemas"]["Category"];
                                readonly decimals: number;
                                readonly loinc: string | null;
                                readonly referenceRange: {
                                    readonly high: number;
                                    readonly low: number;
                                    readonly source: string;
                                } | null;
                                readonly type: components["schemas"]["MetricType"];
                                readonly unit: string;
                            }[];
                        };
                    };
                };
            };
            readonly 400: components["responses"]["problem.400.INVALID_REQUEST"];
        };
    };
    readonly listApps: {
        readonly parameters: {
            readonly query?: {
                /** @description Which page. */
                readonly page?: number;
                /** @description Items on a page: 1 to 100; more is taken as 100. */
                readonly pageSize?: number;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The apps, newest first, and whether you may register others. */
            readonly 200: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: readonly components["schemas"]["App"][];
                        readonly mayRegister: boolean;
                        readonly pagination: components["schemas"]["Pagination"];
                    };
                };
            };
            readonly 400: components["responses"]["problem.400.INVALID_REQUEST"];
            readonly 401: components["responses"]["problem.401.UNAUTHORIZED"];
            readonly 429: components["responses"]["problem.429.RATE_LIMITED"];
            readonly 500: components["responses"]["problem.500.INTERNAL_ERROR"];
            readonly 503: components["responses"]["problem.503.INTERNAL_ERROR"];
        };
    };
    readonly registerApp: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    readonly description?: string | null;
                    readonly developerName?: string | null;
                    /** @enum {string} */
                    readonly environment?: "live" | "sandbox";
                    readonly homepageUrl?: string | null;
                    readonly logoUrl?: string | null;
                    readonly name: string;
                    readonly privacyPolicyUrl?: string | null;
                    readonly redirectUris: readonly string[];
                    readonly requirePkce?: boolean;
                    readonly scopes?: readonly string[];
                };
            };
        };
        readonly responses: {
            /** @description The app with its secret. */
            readonly 201: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly Location: components["headers"]["Location"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: components["schemas"]["NewApp"];
                    };
                };
            };
            readonly 400: components["responses"]["problem.400.INVALID_REQUEST"];
            readonly 401: components["responses"]["problem.401.UNAUTHORIZED"];
            readonly 403: components["responses"]["problem.403.NOT_A_DEVELOPER"];
            readonly 409: components["responses"]["problem.409.CONFLICT"];
            readonly 413: components["responses"]["problem.413.INVALID_REQUEST"];
            readonly 415: components["responses"]["problem.415.INVALID_REQUEST"];
            readonly 429: components["responses"]["problem.429.RATE_LIMITED"];
            readonly 500: components["responses"]["problem.500.INTERNAL_ERROR"];
            readonly 503: components["responses"]["problem.503.INTERNAL_ERROR"];
        };
    };
    readonly getApp: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description Client id of the app. */
                readonly clientId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The app. */
            readonly 200: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: components["schemas"]["App"];
                    };
                };
            };
            readonly 400: components["responses"]["problem.400.INVALID_REQUEST"];
            readonly 401: components["responses"]["problem.401.UNAUTHORIZED"];
            readonly 404: components["responses"]["problem.404.NOT_FOUND"];
            readonly 429: components["responses"]["problem.429.RATE_LIMITED"];
            readonly 500: components["responses"]["problem.500.INTERNAL_ERROR"];
            readonly 503: components["responses"]["problem.503.INTERNAL_ERROR"];
        };
    };
    readonly changeApp: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description Client id of the app. */
                readonly clientId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    readonly description?: string | null;
                    readonly developerName?: string | null;
                    readonly homepageUrl?: string | null;
                    readonly logoUrl?: string | null;
                    readonly name?: string;
                    readonly privacyPolicyUrl?: string | null;
                    readonly redirectUris?: readonly string[];
                    readonly requirePkce?: boolean;
                    readonly scopes?: readonly string[];
                };
            };
        };
        readonly responses: {
            /** @description The changed app. */
            readonly 200: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: components["schemas"]["App"];
                    };
                };
            };
            readonly 400: components["responses"]["problem.400.INVALID_REQUEST"];
            readonly 401: components["responses"]["problem.401.UNAUTHORIZED"];
            readonly 404: components["responses"]["problem.404.NOT_FOUND"];
            readonly 413: components["responses"]["problem.413.INVALID_REQUEST"];
            readonly 415: components["responses"]["problem.415.INVALID_REQUEST"];
            readonly 429: components["responses"]["problem.429.RATE_LIMITED"];
            readonly 500: components["responses"]["problem.500.INTERNAL_ERROR"];
            readonly 503: components["responses"]["problem.503.INTERNAL_ERROR"];
        };
    };
    readonly listRequests: {
        readonly parameters: {
            readonly query?: {
                /** @description Only requests that were answered with this error code. */
                readonly code?: "UNAUTHORIZED" | "TOKEN_EXPIRED" | "INSUFFICIENT_SCOPE" | "CONSENT_REQUIRED" | "STEP_UP_REQUIRED" | "NOT_A_DEVELOPER" | "RATE_LIMITED" | "INVALID_REQUEST" | "UNSUPPORTED_VERSION" | "NOT_FOUND" | "METHOD_NOT_ALLOWED" | "CURSOR_EXPIRED" | "ACCESS_NOT_RECORDED" | "INTERNAL_ERROR" | "CONFLICT" | "PENDING_EXPIRED" | "ALREADY_DECIDED" | "APP_NOT_ACTIVE" | "NO_SCOPES_APPROVED" | "INVALID_GRANT" | "INVALID_SCOPE" | "UNSUPPORTED_GRANT_TYPE" | "UNAUTHORIZED_CLIENT";
                /** @description Which page. */
                readonly page?: number;
                /** @description Items on a page: 1 to 100; more is taken as 100. */
                readonly pageSize?: number;
                /** @description Only the request with this id: `X-Request-Id` of its answer. */
                readonly requestId?: string;
                /** @description A status such as 429, or a class such as 4xx. */
                readonly status?: string;
            };
            readonly header?: never;
            readonly path: {
                /** @description Client id of the app. */
                readonly clientId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The requests, newest first. */
            readonly 200: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly complete: boolean;
                        readonly data: readonly components["schemas"]["LoggedRequest"][];
                        readonly pagination: components["schemas"]["Pagination"];
                    };
                };
            };
            readonly 400: components["responses"]["problem.400.INVALID_REQUEST"];
            readonly 401: components["responses"]["problem.401.UNAUTHORIZED"];
            readonly 404: components["responses"]["problem.404.NOT_FOUND"];
            readonly 429: components["responses"]["problem.429.RATE_LIMITED"];
            readonly 500: components["responses"]["problem.500.INTERNAL_ERROR"];
            readonly 503: components["responses"]["problem.503.INTERNAL_ERROR"];
        };
    };
    readonly rotateSecret: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description Client id of the app. */
                readonly clientId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": {
                    /** @description For so long the secret before works as well; 0 if absent. */
                    readonly overlapSeconds?: number;
                };
            };
        };
        readonly responses: {
            /** @description The new secret. */
            readonly 200: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: {
                            readonly clientId: string;
                            /** @description Shown once, here. */
                            readonly clientSecret: string;
                            /** Format: date-time */
                            readonly previousSecretExpiresAt: string | null;
                            /** @description Of the secret before, while it still works. */
                            readonly previousSecretLast4: string | null;
                            /** Format: date-time */
                            readonly rotatedAt: string;
                            readonly secretLast4: string;
                        };
                    };
                };
            };
            readonly 400: components["responses"]["problem.400.INVALID_REQUEST"];
            readonly 401: components["responses"]["problem.401.UNAUTHORIZED"];
            readonly 403: components["responses"]["problem.403.STEP_UP_REQUIRED"];
            readonly 404: components["responses"]["problem.404.NOT_FOUND"];
            readonly 409: components["responses"]["problem.409.APP_NOT_ACTIVE"];
            readonly 413: components["responses"]["problem.413.INVALID_REQUEST"];
            readonly 415: components["responses"]["problem.415.INVALID_REQUEST"];
            readonly 429: components["responses"]["problem.429.RATE_LIMITED"];
            readonly 500: components["responses"]["problem.500.INTERNAL_ERROR"];
            readonly 503: components["responses"]["problem.503.INTERNAL_ERROR"];
        };
    };
    readonly pullSandboxTrigger: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description Client id of the app. */
                readonly clientId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    readonly grantId: string;
                    /** @enum {string} */
                    readonly trigger: "data.arrive" | "data.correct" | "data.delete" | "grant.narrow" | "grant.revoke" | "grant.expire";
                };
            };
        };
        readonly responses: {
            /** @description What happened. */
            readonly 200: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: components["schemas"]["SandboxTrigger"];
                    };
                };
            };
            readonly 400: components["responses"]["problem.400.INVALID_REQUEST"];
            readonly 401: components["responses"]["problem.401.UNAUTHORIZED"];
            readonly 404: components["responses"]["problem.404.NOT_FOUND"];
            readonly 409: components["responses"]["problem.409.CONFLICT"];
            readonly 413: components["responses"]["problem.413.INVALID_REQUEST"];
            readonly 415: components["responses"]["problem.415.INVALID_REQUEST"];
            readonly 429: components["responses"]["problem.429.RATE_LIMITED"];
            readonly 500: components["responses"]["problem.500.INTERNAL_ERROR"];
            readonly 503: components["responses"]["problem.503.INTERNAL_ERROR"];
        };
    };
    readonly setAppStatus: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description Client id of the app. */
                readonly clientId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @enum {string} */
                    readonly status: "active" | "suspended" | "revoked";
                };
            };
        };
        readonly responses: {
            /** @description The status. */
            readonly 200: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: {
                            readonly clientId: string;
                            /** @enum {string} */
                            readonly status: "active" | "suspended" | "revoked";
                            /** Format: date-time */
                            readonly statusChangedAt: string;
                        };
                    };
                };
            };
            readonly 400: components["responses"]["problem.400.INVALID_REQUEST"];
            readonly 401: components["responses"]["problem.401.UNAUTHORIZED"];
            readonly 404: components["responses"]["problem.404.NOT_FOUND"];
            readonly 409: components["responses"]["problem.409.CONFLICT"];
            readonly 413: components["responses"]["problem.413.INVALID_REQUEST"];
            readonly 415: components["responses"]["problem.415.INVALID_REQUEST"];
            readonly 429: components["responses"]["problem.429.RATE_LIMITED"];
            readonly 500: components["responses"]["problem.500.INTERNAL_ERROR"];
            readonly 503: components["responses"]["problem.503.INTERNAL_ERROR"];
        };
    };
    readonly listAppUsage: {
        readonly parameters: {
            readonly query?: {
                /** @description First day, inclusive. */
                readonly from?: string;
                /** @description Which page. */
                readonly page?: number;
                /** @description Items on a page: 1 to 100; more is taken as 100. */
                readonly pageSize?: number;
                /** @description Last day, inclusive. */
                readonly to?: string;
            };
            readonly header?: never;
            readonly path: {
                /** @description Client id of the app. */
                readonly clientId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description By day and endpoint, newest day first. */
            readonly 200: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: readonly components["schemas"]["AppUsage"][];
                        readonly pagination: components["schemas"]["Pagination"];
                    };
                };
            };
            readonly 400: components["responses"]["problem.400.INVALID_REQUEST"];
            readonly 401: components["responses"]["problem.401.UNAUTHORIZED"];
            readonly 404: components["responses"]["problem.404.NOT_FOUND"];
            readonly 429: components["responses"]["problem.429.RATE_LIMITED"];
            readonly 500: components["responses"]["problem.500.INTERNAL_ERROR"];
            readonly 503: components["responses"]["problem.503.INTERNAL_ERROR"];
        };
    };
    readonly getWebhook: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description Client id of the app. */
                readonly clientId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The endpoint. */
            readonly 200: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: components["schemas"]["Webhook"];
                    };
                };
            };
            readonly 400: components["responses"]["problem.400.INVALID_REQUEST"];
            readonly 401: components["responses"]["problem.401.UNAUTHORIZED"];
            readonly 404: components["responses"]["problem.404.NOT_FOUND"];
            readonly 429: components["responses"]["problem.429.RATE_LIMITED"];
            readonly 500: components["responses"]["problem.500.INTERNAL_ERROR"];
            readonly 503: components["responses"]["problem.503.INTERNAL_ERROR"];
        };
    };
    readonly putWebhook: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description Client id of the app. */
                readonly clientId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    readonly events: readonly ("grant.revoked" | "grant.expired" | "grant.narrowed" | "data.updated")[];
                    /** @description https, without user name, password and fragment; its host has public addresses only. */
                    readonly url: string;
                };
            };
        };
        readonly responses: {
            /** @description The changed endpoint. */
            readonly 200: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: components["schemas"]["Webhook"];
                    };
                };
            };
            /** @description The new endpoint with its secret. */
            readonly 201: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: components["schemas"]["NewWebhook"];
                    };
                };
            };
            readonly 400: components["responses"]["problem.400.INVALID_REQUEST"];
            readonly 401: components["responses"]["problem.401.UNAUTHORIZED"];
            readonly 404: components["responses"]["problem.404.NOT_FOUND"];
            readonly 413: components["responses"]["problem.413.INVALID_REQUEST"];
            readonly 415: components["responses"]["problem.415.INVALID_REQUEST"];
            readonly 429: components["responses"]["problem.429.RATE_LIMITED"];
            readonly 500: components["responses"]["problem.500.INTERNAL_ERROR"];
            readonly 503: components["responses"]["problem.503.INTERNAL_ERROR"];
        };
    };
    readonly deleteWebhook: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description Client id of the app. */
                readonly clientId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description There is no endpoint any more. */
            readonly 204: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["problem.400.INVALID_REQUEST"];
            readonly 401: components["responses"]["problem.401.UNAUTHORIZED"];
            readonly 404: components["responses"]["problem.404.NOT_FOUND"];
            readonly 429: components["responses"]["problem.429.RATE_LIMITED"];
            readonly 500: components["responses"]["problem.500.INTERNAL_ERROR"];
            readonly 503: components["responses"]["problem.503.INTERNAL_ERROR"];
        };
    };
    readonly listDeliveries: {
        readonly parameters: {
            readonly query?: {
                /** @description Which page. */
                readonly page?: number;
                /** @description Items on a page: 1 to 100; more is taken as 100. */
                readonly pageSize?: number;
                /** @description Only events in this state. */
                readonly state?: "pending" | "delivered" | "failed";
            };
            readonly header?: never;
            readonly path: {
                /** @description Client id of the app. */
                readonly clientId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The events, newest first. */
            readonly 200: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: readonly components["schemas"]["WebhookDelivery"][];
                        readonly pagination: components["schemas"]["Pagination"];
                    };
                };
            };
            readonly 400: components["responses"]["problem.400.INVALID_REQUEST"];
            readonly 401: components["responses"]["problem.401.UNAUTHORIZED"];
            readonly 404: components["responses"]["problem.404.NOT_FOUND"];
            readonly 429: components["responses"]["problem.429.RATE_LIMITED"];
            readonly 500: components["responses"]["problem.500.INTERNAL_ERROR"];
            readonly 503: components["responses"]["problem.503.INTERNAL_ERROR"];
        };
    };
    readonly redeliverEvent: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description Client id of the app. */
                readonly clientId: string;
                /** @description Id of the event. */
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The id of the event. */
            readonly 202: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: {
                            /** @description Of the event: `webhook-id`. */
                            readonly id: string;
                        };
                    };
                };
            };
            readonly 400: components["responses"]["problem.400.INVALID_REQUEST"];
            readonly 401: components["responses"]["problem.401.UNAUTHORIZED"];
            readonly 404: components["responses"]["problem.404.NOT_FOUND"];
            readonly 429: components["responses"]["problem.429.RATE_LIMITED"];
            readonly 500: components["responses"]["problem.500.INTERNAL_ERROR"];
            readonly 503: components["responses"]["problem.503.INTERNAL_ERROR"];
        };
    };
    readonly rotateWebhookSecret: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description Client id of the app. */
                readonly clientId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": {
                    /** @description For so long the secret before works as well; 0 if absent. */
                    readonly overlapSeconds?: number;
                };
            };
        };
        readonly responses: {
            /** @description The endpoint with the new secret. */
            readonly 200: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: components["schemas"]["NewWebhook"];
                    };
                };
            };
            readonly 400: components["responses"]["problem.400.INVALID_REQUEST"];
            readonly 401: components["responses"]["problem.401.UNAUTHORIZED"];
            readonly 404: components["responses"]["problem.404.NOT_FOUND"];
            readonly 413: components["responses"]["problem.413.INVALID_REQUEST"];
            readonly 415: components["responses"]["problem.415.INVALID_REQUEST"];
            readonly 429: components["responses"]["problem.429.RATE_LIMITED"];
            readonly 500: components["responses"]["problem.500.INTERNAL_ERROR"];
            readonly 503: components["responses"]["problem.503.INTERNAL_ERROR"];
        };
    };
    readonly sendTestEvent: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description Client id of the app. */
                readonly clientId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The id of the event. */
            readonly 202: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: {
                            /** @description Of the event: `webhook-id`. */
                            readonly id: string;
                        };
                    };
                };
            };
            readonly 400: components["responses"]["problem.400.INVALID_REQUEST"];
            readonly 401: components["responses"]["problem.401.UNAUTHORIZED"];
            readonly 404: components["responses"]["problem.404.NOT_FOUND"];
            readonly 429: components["responses"]["problem.429.RATE_LIMITED"];
            readonly 500: components["responses"]["problem.500.INTERNAL_ERROR"];
            readonly 503: components["responses"]["problem.503.INTERNAL_ERROR"];
        };
    };
    readonly getLiveness: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description It does. */
            readonly 200: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "text/plain": string;
                };
            };
            readonly 400: components["responses"]["problem.400.INVALID_REQUEST"];
        };
    };
    readonly startAuthorization: {
        readonly parameters: {
            readonly query: {
                /** @description Client id of the app. */
                readonly client_id: string;
                /** @description PKCE (RFC 7636). */
                readonly code_challenge?: string;
                /** @description `S256`; needed with `code_challenge`. */
                readonly code_challenge_method?: "S256";
                /** @description `true`: the tokens get every scope that the person shares with the app, not only those of this approval. */
                readonly include_granted_scopes?: "true" | "false";
                /** @description Sandbox apps only: who approves (ada, ben, cleo, dora), or `deny`. */
                readonly login_hint?: string;
                /** @description Scopes without which the app does not work. */
                readonly needed_scope?: string;
                /** @description Why the app asks, for the approval screen. Kept only with the secret. */
                readonly purpose?: string;
                /** @description One of the registered redirect URIs of the app, character by character. */
                readonly redirect_uri?: string;
                /** @description From `POST /oauth/par`; then `client_id` is enough. */
                readonly request_uri?: string;
                /** @description `code`, also if absent. */
                readonly response_type?: "code";
                /** @description One or more scopes, separated by spaces. */
                readonly scope?: string;
                /** @description Returned unchanged. */
                readonly state?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description A page about a sandbox app: where the link leads. */
            readonly 200: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly Pragma: components["headers"]["Maybe-Pragma"];
                    readonly RateLimit: components["headers"]["Maybe-RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["Maybe-RateLimit-Policy"];
                    readonly "X-Request-Id": components["headers"]["Maybe-X-Request-Id"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "text/html": string;
                };
            };
            /** @description To the approval screen, or back to the app with an error or, for a sandbox app, with a code. */
            readonly 303: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly Location: components["headers"]["Location"];
                    readonly Pragma: components["headers"]["Pragma"];
                    readonly RateLimit: components["headers"]["Maybe-RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["Maybe-RateLimit-Policy"];
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A page about a mistake in the request. */
            readonly 400: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly Pragma: components["headers"]["Maybe-Pragma"];
                    readonly RateLimit: components["headers"]["Maybe-RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["Maybe-RateLimit-Policy"];
                    readonly "X-Request-Id": components["headers"]["Maybe-X-Request-Id"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["InvalidRequestError"];
                    readonly "text/html": string;
                };
            };
            /** @description A page: too many requests. */
            readonly 429: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly Pragma: components["headers"]["Maybe-Pragma"];
                    readonly RateLimit: components["headers"]["Maybe-RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["Maybe-RateLimit-Policy"];
                    readonly "Retry-After": components["headers"]["Retry-After"];
                    readonly "X-Request-Id": components["headers"]["Maybe-X-Request-Id"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "text/html": string;
                };
            };
            /** @description A page: something failed here. */
            readonly 500: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly Pragma: components["headers"]["Maybe-Pragma"];
                    readonly RateLimit: components["headers"]["Maybe-RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["Maybe-RateLimit-Policy"];
                    readonly "X-Request-Id": components["headers"]["Maybe-X-Request-Id"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "text/html": string;
                };
            };
            /** @description A page: try again. */
            readonly 503: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly Pragma: components["headers"]["Maybe-Pragma"];
                    readonly RateLimit: components["headers"]["Maybe-RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["Maybe-RateLimit-Policy"];
                    readonly "Retry-After": components["headers"]["Retry-After"];
                    readonly "X-Request-Id": components["headers"]["Maybe-X-Request-Id"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "text/html": string;
                };
            };
        };
    };
    readonly requestAuthorization: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["AuthorizationRequest"];
                readonly "application/x-www-form-urlencoded": components["schemas"]["AuthorizationRequest"];
            };
        };
        readonly responses: {
            /** @description The request waits for the person, whom the app sends to `approval_uri`. */
            readonly 201: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly Location: components["headers"]["Location"];
                    readonly Pragma: components["headers"]["Pragma"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PushedAuthorization"];
                };
            };
            /** @description To the approval screen, for a browser. */
            readonly 303: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly Location: components["headers"]["Location"];
                    readonly Pragma: components["headers"]["Pragma"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["oauth.400.INVALID_REQUEST.INVALID_SCOPE"];
            readonly 401: components["responses"]["oauth.401.UNAUTHORIZED"];
            readonly 413: components["responses"]["oauth.413.INVALID_REQUEST"];
            readonly 415: components["responses"]["oauth.415.INVALID_REQUEST"];
            readonly 429: components["responses"]["oauth.429.RATE_LIMITED"];
            readonly 500: components["responses"]["oauth.500.INTERNAL_ERROR"];
            readonly 503: components["responses"]["oauth.503.INTERNAL_ERROR"];
        };
    };
    readonly listOwnGrants: {
        readonly parameters: {
            readonly query?: {
                /** @description Id of a grant: only those that come after it. A list counts at most 10,000 grants; continue with the last one of its last page. */
                readonly before?: string;
                /** @description Which page. */
                readonly page?: number;
                /** @description Items on a page: 1 to 100; more is taken as 100. */
                readonly pageSize?: number;
                /** @description Only grants of this status. */
                readonly status?: "active" | "expired" | "revoked";
                /** @description Only grants of this person. */
                readonly sub?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The grants, newest first. */
            readonly 200: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly Pragma: components["headers"]["Pragma"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: readonly components["schemas"]["OwnGrant"][];
                        readonly pagination: components["schemas"]["Pagination"];
                    };
                };
            };
            readonly 400: components["responses"]["oauth.400.INVALID_REQUEST"];
            readonly 401: components["responses"]["oauth.401.UNAUTHORIZED"];
            readonly 403: components["responses"]["oauth.403.UNAUTHORIZED_CLIENT"];
            readonly 429: components["responses"]["oauth.429.RATE_LIMITED"];
            readonly 500: components["responses"]["oauth.500.INTERNAL_ERROR"];
            readonly 503: components["responses"]["oauth.503.INTERNAL_ERROR"];
        };
    };
    readonly getOwnGrant: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description Id of the grant. */
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The grant. */
            readonly 200: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly Pragma: components["headers"]["Pragma"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: components["schemas"]["OwnGrant"];
                    };
                };
            };
            readonly 400: components["responses"]["oauth.400.INVALID_REQUEST"];
            readonly 401: components["responses"]["oauth.401.UNAUTHORIZED"];
            readonly 403: components["responses"]["oauth.403.UNAUTHORIZED_CLIENT"];
            readonly 404: components["responses"]["oauth.404.NOT_FOUND"];
            readonly 429: components["responses"]["oauth.429.RATE_LIMITED"];
            readonly 500: components["responses"]["oauth.500.INTERNAL_ERROR"];
            readonly 503: components["responses"]["oauth.503.INTERNAL_ERROR"];
        };
    };
    readonly endOwnGrant: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description Id of the grant. */
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The end. */
            readonly 200: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly Pragma: components["headers"]["Pragma"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: {
                            readonly id: string;
                            /** Format: date-time */
                            readonly revoked_at: string;
                            /** @constant */
                            readonly status: "revoked";
                        };
                    };
                };
            };
            readonly 400: components["responses"]["oauth.400.INVALID_REQUEST"];
            readonly 401: components["responses"]["oauth.401.UNAUTHORIZED"];
            readonly 403: components["responses"]["oauth.403.UNAUTHORIZED_CLIENT"];
            readonly 404: components["responses"]["oauth.404.NOT_FOUND"];
            readonly 429: components["responses"]["oauth.429.RATE_LIMITED"];
            readonly 500: components["responses"]["oauth.500.INTERNAL_ERROR"];
            readonly 503: components["responses"]["oauth.503.INTERNAL_ERROR"];
        };
    };
    readonly introspectToken: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Sandbox apps only: the code of an error of this operation, which is then answered as if it had happened. Ignored for live apps. */
                readonly "Sandbox-Force"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["OwnTokenRequest"];
                readonly "application/x-www-form-urlencoded": components["schemas"]["OwnTokenRequest"];
            };
        };
        readonly responses: {
            /** @description What the token may do now. */
            readonly 200: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly Pragma: components["headers"]["Pragma"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Introspection"];
                };
            };
            readonly 400: components["responses"]["oauth.400.INVALID_REQUEST"];
            readonly 401: components["responses"]["oauth.401.UNAUTHORIZED"];
            readonly 413: components["responses"]["oauth.413.INVALID_REQUEST"];
            readonly 415: components["responses"]["oauth.415.INVALID_REQUEST"];
            readonly 429: components["responses"]["oauth.429.RATE_LIMITED"];
            readonly 500: components["responses"]["oauth.500.INTERNAL_ERROR"];
            readonly 503: components["responses"]["oauth.503.INTERNAL_ERROR"];
        };
    };
    readonly pushAuthorization: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["AuthorizationRequest"];
                readonly "application/x-www-form-urlencoded": components["schemas"]["AuthorizationRequest"];
            };
        };
        readonly responses: {
            /** @description The request waits for the person, whom the app sends to `approval_uri`. */
            readonly 201: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly Location: components["headers"]["Location"];
                    readonly Pragma: components["headers"]["Pragma"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PushedAuthorization"];
                };
            };
            readonly 400: components["responses"]["oauth.400.INVALID_REQUEST.INVALID_SCOPE"];
            readonly 401: components["responses"]["oauth.401.UNAUTHORIZED"];
            readonly 413: components["responses"]["oauth.413.INVALID_REQUEST"];
            readonly 415: components["responses"]["oauth.415.INVALID_REQUEST"];
            readonly 429: components["responses"]["oauth.429.RATE_LIMITED"];
            readonly 500: components["responses"]["oauth.500.INTERNAL_ERROR"];
            readonly 503: components["responses"]["oauth.503.INTERNAL_ERROR"];
        };
    };
    readonly revokeToken: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Sandbox apps only: the code of an error of this operation, which is then answered as if it had happened. Ignored for live apps. */
                readonly "Sandbox-Force"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["OwnTokenRequest"];
                readonly "application/x-www-form-urlencoded": components["schemas"]["OwnTokenRequest"];
            };
        };
        readonly responses: {
            /** @description The token does not work, or never did. */
            readonly 200: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly Pragma: components["headers"]["Pragma"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": Record<string, never>;
                };
            };
            readonly 400: components["responses"]["oauth.400.INVALID_REQUEST"];
            readonly 401: components["responses"]["oauth.401.UNAUTHORIZED"];
            readonly 413: components["responses"]["oauth.413.INVALID_REQUEST"];
            readonly 415: components["responses"]["oauth.415.INVALID_REQUEST"];
            readonly 429: components["responses"]["oauth.429.RATE_LIMITED"];
            readonly 500: components["responses"]["oauth.500.INTERNAL_ERROR"];
            readonly 503: components["responses"]["oauth.503.INTERNAL_ERROR"];
        };
    };
    readonly listScopes: {
        readonly parameters: {
            readonly query?: {
                /** @description Which page. */
                readonly page?: number;
                /** @description Items on a page: 1 to 100; more is taken as 100. */
                readonly pageSize?: number;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The scopes. */
            readonly 200: {
                headers: {
                    readonly "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly Pragma: components["headers"]["Pragma"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: readonly components["schemas"]["ScopeDescription"][];
                        readonly pagination: components["schemas"]["Pagination"];
                    };
                };
            };
            readonly 400: components["responses"]["oauth.400.INVALID_REQUEST"];
        };
    };
    readonly issueTokens: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Sandbox apps only: the code of an error of this operation, which is then answered as if it had happened. Ignored for live apps. */
                readonly "Sandbox-Force"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["TokenRequest"];
                readonly "application/x-www-form-urlencoded": components["schemas"]["TokenRequest"];
            };
        };
        readonly responses: {
            /** @description The tokens. */
            readonly 200: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly Pragma: components["headers"]["Pragma"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Tokens"];
                };
            };
            readonly 400: components["responses"]["oauth.400.INVALID_REQUEST.INVALID_GRANT.INVALID_SCOPE.UNSUPPORTED_GRANT_TYPE"];
            readonly 401: components["responses"]["oauth.401.UNAUTHORIZED"];
            readonly 413: components["responses"]["oauth.413.INVALID_REQUEST"];
            readonly 415: components["responses"]["oauth.415.INVALID_REQUEST"];
            readonly 429: components["responses"]["oauth.429.RATE_LIMITED"];
            readonly 500: components["responses"]["oauth.500.INTERNAL_ERROR"];
            readonly 503: components["responses"]["oauth.503.INTERNAL_ERROR"];
        };
    };
    readonly getOpenApi: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The document. */
            readonly 200: {
                headers: {
                    readonly "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly openapi: "3.1.1";
                        readonly paths: {
                            readonly [key: string]: unknown;
                        };
                    } & {
                        readonly [key: string]: unknown;
                    };
                };
            };
            readonly 400: components["responses"]["problem.400.INVALID_REQUEST"];
        };
    };
    readonly listAccesses: {
        readonly parameters: {
            readonly query?: {
                /** @description Of this app only. */
                readonly clientId?: string;
                /** @description A date (2026-03-01) or an RFC 3339 instant. */
                readonly from?: string;
                /** @description Of this grant only. */
                readonly grantId?: string;
                /** @description Which page. */
                readonly page?: number;
                /** @description Items on a page: 1 to 100; more is taken as 100. */
                readonly pageSize?: number;
                /** @description A kind of data. */
                readonly scope?: components["schemas"]["Scope"];
                /** @description A date (2026-03-01) or an RFC 3339 instant. */
                readonly to?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The accesses, newest first. */
            readonly 200: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: readonly components["schemas"]["Access"][];
                        readonly pagination: components["schemas"]["Pagination"];
                    };
                };
            };
            readonly 400: components["responses"]["problem.400.INVALID_REQUEST"];
            readonly 401: components["responses"]["problem.401.UNAUTHORIZED"];
            readonly 404: components["responses"]["problem.404.NOT_FOUND"];
            readonly 429: components["responses"]["problem.429.RATE_LIMITED"];
            readonly 500: components["responses"]["problem.500.INTERNAL_ERROR"];
            readonly 503: components["responses"]["problem.503.INTERNAL_ERROR"];
        };
    };
    readonly exportAccesses: {
        readonly parameters: {
            readonly query?: {
                /** @description Of this app only. */
                readonly clientId?: string;
                /** @description A date (2026-03-01) or an RFC 3339 instant. */
                readonly from?: string;
                /** @description Of this grant only. */
                readonly grantId?: string;
                /** @description A kind of data. */
                readonly scope?: components["schemas"]["Scope"];
                /** @description A date (2026-03-01) or an RFC 3339 instant. */
                readonly to?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description All accesses as a file (RFC 4180), newest first. */
            readonly 200: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly "Content-Disposition": components["headers"]["Content-Disposition"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "text/csv": string;
                };
            };
            readonly 400: components["responses"]["problem.400.INVALID_REQUEST"];
            readonly 401: components["responses"]["problem.401.UNAUTHORIZED"];
            readonly 404: components["responses"]["problem.404.NOT_FOUND"];
            readonly 429: components["responses"]["problem.429.RATE_LIMITED"];
            readonly 500: components["responses"]["problem.500.INTERNAL_ERROR"];
            readonly 503: components["responses"]["problem.503.INTERNAL_ERROR"];
        };
    };
    readonly summarizeAccesses: {
        readonly parameters: {
            readonly query?: {
                /** @description Of this app only. */
                readonly clientId?: string;
                /** @description First day, inclusive. */
                readonly from?: string;
                /** @description Of this grant only. */
                readonly grantId?: string;
                /** @description Which page. */
                readonly page?: number;
                /** @description Items on a page: 1 to 100; more is taken as 100. */
                readonly pageSize?: number;
                /** @description A kind of data. */
                readonly scope?: components["schemas"]["Scope"];
                /** @description The IANA time zone of the days; UTC if absent. */
                readonly timeZone?: string;
                /** @description Last day, inclusive. */
                readonly to?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description By day and app, newest day first. */
            readonly 200: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: readonly components["schemas"]["AccessDay"][];
                        readonly pagination: components["schemas"]["Pagination"];
                    };
                };
            };
            readonly 400: components["responses"]["problem.400.INVALID_REQUEST"];
            readonly 401: components["responses"]["problem.401.UNAUTHORIZED"];
            readonly 404: components["responses"]["problem.404.NOT_FOUND"];
            readonly 429: components["responses"]["problem.429.RATE_LIMITED"];
            readonly 500: components["responses"]["problem.500.INTERNAL_ERROR"];
            readonly 503: components["responses"]["problem.503.INTERNAL_ERROR"];
        };
    };
    readonly listConnectedApps: {
        readonly parameters: {
            readonly query?: {
                /** @description Which page. */
                readonly page?: number;
                /** @description Items on a page: 1 to 100; more is taken as 100. */
                readonly pageSize?: number;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The apps. */
            readonly 200: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: readonly components["schemas"]["ConnectedApp"][];
                        readonly pagination: components["schemas"]["Pagination"];
                    };
                };
            };
            readonly 400: components["responses"]["problem.400.INVALID_REQUEST"];
            readonly 401: components["responses"]["problem.401.UNAUTHORIZED"];
            readonly 429: components["responses"]["problem.429.RATE_LIMITED"];
            readonly 500: components["responses"]["problem.500.INTERNAL_ERROR"];
            readonly 503: components["responses"]["problem.503.INTERNAL_ERROR"];
        };
    };
    readonly listGrants: {
        readonly parameters: {
            readonly query?: {
                /** @description Which page. */
                readonly page?: number;
                /** @description Items on a page: 1 to 100; more is taken as 100. */
                readonly pageSize?: number;
                /** @description Only grants of this status. */
                readonly status?: "active" | "expired" | "revoked";
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The grants, newest first. */
            readonly 200: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: readonly components["schemas"]["Grant"][];
                        readonly pagination: components["schemas"]["Pagination"];
                    };
                };
            };
            readonly 400: components["responses"]["problem.400.INVALID_REQUEST"];
            readonly 401: components["responses"]["problem.401.UNAUTHORIZED"];
            readonly 429: components["responses"]["problem.429.RATE_LIMITED"];
            readonly 500: components["responses"]["problem.500.INTERNAL_ERROR"];
            readonly 503: components["responses"]["problem.503.INTERNAL_ERROR"];
        };
    };
    readonly getGrant: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description Id of the grant. */
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The grant. */
            readonly 200: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: components["schemas"]["Grant"];
                    };
                };
            };
            readonly 400: components["responses"]["problem.400.INVALID_REQUEST"];
            readonly 401: components["responses"]["problem.401.UNAUTHORIZED"];
            readonly 404: components["responses"]["problem.404.NOT_FOUND"];
            readonly 429: components["responses"]["problem.429.RATE_LIMITED"];
            readonly 500: components["responses"]["problem.500.INTERNAL_ERROR"];
            readonly 503: components["responses"]["problem.503.INTERNAL_ERROR"];
        };
    };
    readonly revokeGrant: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description Id of the grant. */
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The revocation. */
            readonly 200: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: {
                            readonly id: string;
                            /** Format: date-time */
                            readonly revokedAt: string;
                            /** @constant */
                            readonly status: "revoked";
                        };
                    };
                };
            };
            readonly 400: components["responses"]["problem.400.INVALID_REQUEST"];
            readonly 401: components["responses"]["problem.401.UNAUTHORIZED"];
            readonly 404: components["responses"]["problem.404.NOT_FOUND"];
            readonly 429: components["responses"]["problem.429.RATE_LIMITED"];
            readonly 500: components["responses"]["problem.500.INTERNAL_ERROR"];
            readonly 503: components["responses"]["problem.503.INTERNAL_ERROR"];
        };
    };
    readonly narrowGrant: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description Id of the grant. */
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** Format: date */
                    readonly dataFrom?: string;
                    /** Format: date-time */
                    readonly expiresAt?: string;
                    readonly scopes?: readonly string[];
                };
            };
        };
        readonly responses: {
            /** @description The narrowed grant. */
            readonly 200: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: components["schemas"]["Grant"];
                    };
                };
            };
            readonly 400: components["responses"]["problem.400.INVALID_REQUEST"];
            readonly 401: components["responses"]["problem.401.UNAUTHORIZED"];
            readonly 404: components["responses"]["problem.404.NOT_FOUND"];
            readonly 409: components["responses"]["problem.409.CONFLICT"];
            readonly 413: components["responses"]["problem.413.INVALID_REQUEST"];
            readonly 415: components["responses"]["problem.415.INVALID_REQUEST"];
            readonly 429: components["responses"]["problem.429.RATE_LIMITED"];
            readonly 500: components["responses"]["problem.500.INTERNAL_ERROR"];
            readonly 503: components["responses"]["problem.503.INTERNAL_ERROR"];
        };
    };
    readonly listGrantAccesses: {
        readonly parameters: {
            readonly query?: {
                /** @description Of this app only. */
                readonly clientId?: string;
                /** @description A date (2026-03-01) or an RFC 3339 instant. */
                readonly from?: string;
                /** @description Which page. */
                readonly page?: number;
                /** @description Items on a page: 1 to 100; more is taken as 100. */
                readonly pageSize?: number;
                /** @description A kind of data. */
                readonly scope?: components["schemas"]["Scope"];
                /** @description A date (2026-03-01) or an RFC 3339 instant. */
                readonly to?: string;
            };
            readonly header?: never;
            readonly path: {
                /** @description Id of the grant. */
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The accesses, newest first. */
            readonly 200: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: readonly components["schemas"]["Access"][];
                        readonly pagination: components["schemas"]["Pagination"];
                    };
                };
            };
            readonly 400: components["responses"]["problem.400.INVALID_REQUEST"];
            readonly 401: components["responses"]["problem.401.UNAUTHORIZED"];
            readonly 404: components["responses"]["problem.404.NOT_FOUND"];
            readonly 429: components["responses"]["problem.429.RATE_LIMITED"];
            readonly 500: components["responses"]["problem.500.INTERNAL_ERROR"];
            readonly 503: components["responses"]["problem.503.INTERNAL_ERROR"];
        };
    };
    readonly requestDeletion: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description Id of the grant. */
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description When the app was asked. */
            readonly 200: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: {
                            /** Format: date-time */
                            readonly deletionRequestedAt: string;
                            readonly id: string;
                        };
                    };
                };
            };
            readonly 400: components["responses"]["problem.400.INVALID_REQUEST"];
            readonly 401: components["responses"]["problem.401.UNAUTHORIZED"];
            readonly 404: components["responses"]["problem.404.NOT_FOUND"];
            readonly 429: components["responses"]["problem.429.RATE_LIMITED"];
            readonly 500: components["responses"]["problem.500.INTERNAL_ERROR"];
            readonly 503: components["responses"]["problem.503.INTERNAL_ERROR"];
        };
    };
    readonly getReceipt: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description Id of the grant. */
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The signed receipt. */
            readonly 200: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: {
                            readonly grantId: string;
                            /** @description A compact JWS (ISO/IEC 27560 field names). */
                            readonly receipt: string;
                        };
                    };
                };
            };
            readonly 400: components["responses"]["problem.400.INVALID_REQUEST"];
            readonly 401: components["responses"]["problem.401.UNAUTHORIZED"];
            readonly 404: components["responses"]["problem.404.NOT_FOUND"];
            readonly 429: components["responses"]["problem.429.RATE_LIMITED"];
            readonly 500: components["responses"]["problem.500.INTERNAL_ERROR"];
            readonly 503: components["responses"]["problem.503.INTERNAL_ERROR"];
        };
    };
    readonly reportGrant: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description Id of the grant. */
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @enum {string} */
                    readonly reason: "data_use" | "impersonation" | "not_deleted" | "other";
                    readonly text?: string | null;
                };
            };
        };
        readonly responses: {
            /** @description The report. */
            readonly 201: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: {
                            /** Format: date-time */
                            readonly at: string;
                            readonly id: string;
                        };
                    };
                };
            };
            readonly 400: components["responses"]["problem.400.INVALID_REQUEST"];
            readonly 401: components["responses"]["problem.401.UNAUTHORIZED"];
            readonly 404: components["responses"]["problem.404.NOT_FOUND"];
            readonly 413: components["responses"]["problem.413.INVALID_REQUEST"];
            readonly 415: components["responses"]["problem.415.INVALID_REQUEST"];
            readonly 429: components["responses"]["problem.429.RATE_LIMITED"];
            readonly 500: components["responses"]["problem.500.INTERNAL_ERROR"];
            readonly 503: components["responses"]["problem.503.INTERNAL_ERROR"];
        };
    };
    readonly revokeAllGrants: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description How many were revoked. */
            readonly 200: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: {
                            readonly revoked: number;
                        };
                    };
                };
            };
            readonly 400: components["responses"]["problem.400.INVALID_REQUEST"];
            readonly 401: components["responses"]["problem.401.UNAUTHORIZED"];
            readonly 429: components["responses"]["problem.429.RATE_LIMITED"];
            readonly 500: components["responses"]["problem.500.INTERNAL_ERROR"];
            readonly 503: components["responses"]["problem.503.INTERNAL_ERROR"];
        };
    };
    readonly listPendingApprovals: {
        readonly parameters: {
            readonly query?: {
                /** @description Which page. */
                readonly page?: number;
                /** @description Items on a page: 1 to 100; more is taken as 100. */
                readonly pageSize?: number;
                /** @description Only requests of this status. */
                readonly status?: "pending" | "approved" | "denied" | "expired" | "cancelled";
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The requests, newest first. */
            readonly 200: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: readonly components["schemas"]["PendingApproval"][];
                        readonly pagination: components["schemas"]["Pagination"];
                    };
                };
            };
            readonly 400: components["responses"]["problem.400.INVALID_REQUEST"];
            readonly 401: components["responses"]["problem.401.UNAUTHORIZED"];
            readonly 429: components["responses"]["problem.429.RATE_LIMITED"];
            readonly 500: components["responses"]["problem.500.INTERNAL_ERROR"];
            readonly 503: components["responses"]["problem.503.INTERNAL_ERROR"];
        };
    };
    readonly getPendingApproval: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description Id of the authorization request. */
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The request. */
            readonly 200: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: components["schemas"]["PendingApproval"];
                    };
                };
            };
            readonly 400: components["responses"]["problem.400.INVALID_REQUEST"];
            readonly 401: components["responses"]["problem.401.UNAUTHORIZED"];
            readonly 404: components["responses"]["problem.404.NOT_FOUND"];
            readonly 429: components["responses"]["problem.429.RATE_LIMITED"];
            readonly 500: components["responses"]["problem.500.INTERNAL_ERROR"];
            readonly 503: components["responses"]["problem.503.INTERNAL_ERROR"];
        };
    };
    readonly approve: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description Id of the authorization request. */
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": {
                    /** Format: date */
                    readonly dataFrom?: string | null;
                    /** @enum {number} */
                    readonly expiresInDays?: 1 | 30 | 90 | 180 | 365;
                    readonly keepExpiry?: boolean;
                    readonly language?: string;
                    readonly revision?: string | null;
                    readonly scopes?: readonly string[];
                };
                readonly "application/x-www-form-urlencoded": {
                    /** Format: date */
                    readonly dataFrom?: string | null;
                    /** @enum {number} */
                    readonly expiresInDays?: 1 | 30 | 90 | 180 | 365;
                    readonly keepExpiry?: boolean;
                    readonly language?: string;
                    readonly revision?: string | null;
                    readonly scopes?: readonly string[];
                };
            };
        };
        readonly responses: {
            /** @description The grant, and where the app waits for the code. */
            readonly 200: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: {
                            /** Format: date-time */
                            readonly grantExpiresAt: string;
                            readonly grantId: string;
                            readonly id: string;
                            readonly redirectUri: string;
                            readonly scopes: readonly components["schemas"]["Scope"][];
                            /** @constant */
                            readonly status: "approved";
                        };
                    };
                };
            };
            /** @description For a browser that sent the form: to the app, or back to the page with the error. */
            readonly 303: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly Location: components["headers"]["Location"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["problem.400.INVALID_REQUEST.NO_SCOPES_APPROVED"];
            readonly 401: components["responses"]["problem.401.UNAUTHORIZED"];
            readonly 403: components["responses"]["problem.403.STEP_UP_REQUIRED"];
            readonly 404: components["responses"]["problem.404.NOT_FOUND"];
            readonly 409: components["responses"]["problem.409.PENDING_EXPIRED.ALREADY_DECIDED.CONFLICT.APP_NOT_ACTIVE"];
            readonly 413: components["responses"]["problem.413.INVALID_REQUEST"];
            readonly 415: components["responses"]["problem.415.INVALID_REQUEST"];
            readonly 429: components["responses"]["problem.429.RATE_LIMITED"];
            readonly 500: components["responses"]["problem.500.INTERNAL_ERROR"];
            readonly 503: components["responses"]["problem.503.INTERNAL_ERROR"];
        };
    };
    readonly deny: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description Id of the authorization request. */
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The denial. */
            readonly 200: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: {
                            readonly id: string;
                            /** @description Null if the app has removed the address since. */
                            readonly redirectUri: string | null;
                            /** @constant */
                            readonly status: "denied";
                        };
                    };
                };
            };
            /** @description For a browser that sent the form: to the app, or back to the page with the error. */
            readonly 303: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly Location: components["headers"]["Location"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["problem.400.INVALID_REQUEST"];
            readonly 401: components["responses"]["problem.401.UNAUTHORIZED"];
            readonly 404: components["responses"]["problem.404.NOT_FOUND"];
            readonly 409: components["responses"]["problem.409.PENDING_EXPIRED.ALREADY_DECIDED"];
            readonly 429: components["responses"]["problem.429.RATE_LIMITED"];
            readonly 500: components["responses"]["problem.500.INTERNAL_ERROR"];
            readonly 503: components["responses"]["problem.503.INTERNAL_ERROR"];
        };
    };
    readonly extendPendingApproval: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description Id of the authorization request. */
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The new end. */
            readonly 200: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: {
                            /** Format: date-time */
                            readonly expiresAt: string;
                            readonly id: string;
                        };
                    };
                };
            };
            readonly 400: components["responses"]["problem.400.INVALID_REQUEST"];
            readonly 401: components["responses"]["problem.401.UNAUTHORIZED"];
            readonly 404: components["responses"]["problem.404.NOT_FOUND"];
            readonly 409: components["responses"]["problem.409.PENDING_EXPIRED.ALREADY_DECIDED.CONFLICT"];
            readonly 429: components["responses"]["problem.429.RATE_LIMITED"];
            readonly 500: components["responses"]["problem.500.INTERNAL_ERROR"];
            readonly 503: components["responses"]["problem.503.INTERNAL_ERROR"];
        };
    };
    readonly releasePendingApproval: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description Id of the authorization request. */
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The request is claimed by nobody. */
            readonly 200: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: {
                            readonly id: string;
                        };
                    };
                };
            };
            readonly 400: components["responses"]["problem.400.INVALID_REQUEST"];
            readonly 401: components["responses"]["problem.401.UNAUTHORIZED"];
            readonly 404: components["responses"]["problem.404.NOT_FOUND"];
            readonly 409: components["responses"]["problem.409.PENDING_EXPIRED.ALREADY_DECIDED"];
            readonly 429: components["responses"]["problem.429.RATE_LIMITED"];
            readonly 500: components["responses"]["problem.500.INTERNAL_ERROR"];
            readonly 503: components["responses"]["problem.503.INTERNAL_ERROR"];
        };
    };
    readonly reportPendingApproval: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description Id of the authorization request. */
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    /** @enum {string} */
                    readonly reason: "data_use" | "impersonation" | "not_deleted" | "other";
                    readonly text?: string | null;
                };
            };
        };
        readonly responses: {
            /** @description The report. */
            readonly 201: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: {
                            /** Format: date-time */
                            readonly at: string;
                            readonly id: string;
                        };
                    };
                };
            };
            readonly 400: components["responses"]["problem.400.INVALID_REQUEST"];
            readonly 401: components["responses"]["problem.401.UNAUTHORIZED"];
            readonly 404: components["responses"]["problem.404.NOT_FOUND"];
            readonly 413: components["responses"]["problem.413.INVALID_REQUEST"];
            readonly 415: components["responses"]["problem.415.INVALID_REQUEST"];
            readonly 429: components["responses"]["problem.429.RATE_LIMITED"];
            readonly 500: components["responses"]["problem.500.INTERNAL_ERROR"];
            readonly 503: components["responses"]["problem.503.INTERNAL_ERROR"];
        };
    };
    readonly previewData: {
        readonly parameters: {
            readonly query: {
                /** @description First day that the app would see; absent: everything. */
                readonly dataFrom?: string;
                /** @description A kind of data. */
                readonly scope: components["schemas"]["Scope"];
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Newest items and a trend. */
            readonly 200: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: {
                            /** @description For `read:medications`. */
                            readonly doses?: {
                                readonly newest: readonly {
                                    readonly dose: string | null;
                                    readonly medication: string;
                                    readonly reason: string | null;
                                    /** Format: date-time */
                                    readonly scheduledAt: string | null;
                                    /** @enum {string} */
                                    readonly status: "taken" | "skipped" | "missed" | "pending";
                                    /** Format: date-time */
                                    readonly takenAt: string | null;
                                }[];
                                readonly total: number;
                            };
                            readonly newest: readonly {
                                readonly [key: string]: unknown;
                            }[];
                            readonly scope: components["schemas"]["Scope"];
                            readonly total: number;
                            readonly trend: readonly components["schemas"]["TrendPoint"][];
                        };
                    };
                };
            };
            readonly 400: components["responses"]["problem.400.INVALID_REQUEST"];
            readonly 401: components["responses"]["problem.401.UNAUTHORIZED"];
            readonly 403: components["responses"]["problem.403.STEP_UP_REQUIRED"];
            readonly 429: components["responses"]["problem.429.RATE_LIMITED"];
            readonly 500: components["responses"]["problem.500.INTERNAL_ERROR"];
            readonly 503: components["responses"]["problem.503.INTERNAL_ERROR"];
        };
    };
    readonly getSession: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The person. */
            readonly 200: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly RateLimit: components["headers"]["RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: {
                            /** Format: date-time */
                            readonly expiresAt: string;
                            readonly name: string | null;
                            readonly userId: string;
                        };
                    };
                };
            };
            readonly 400: components["responses"]["problem.400.INVALID_REQUEST"];
            readonly 401: components["responses"]["problem.401.UNAUTHORIZED"];
            readonly 429: components["responses"]["problem.429.RATE_LIMITED"];
            readonly 500: components["responses"]["problem.500.INTERNAL_ERROR"];
            readonly 503: components["responses"]["problem.503.INTERNAL_ERROR"];
        };
    };
    readonly getReadiness: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description It can. */
            readonly 200: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "text/plain": string;
                };
            };
            readonly 400: components["responses"]["problem.400.INVALID_REQUEST"];
            /** @description It cannot. */
            readonly 503: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "text/plain": string;
                };
            };
        };
    };
    readonly signOut: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The cookie is removed, and the session ended everywhere. */
            readonly 200: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly "Set-Cookie": components["headers"]["Set-Cookie"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: {
                            /** @description The logout of the OpenID provider, if it has one. */
                            readonly continueTo: string | null;
                            /** @constant */
                            readonly signedOut: true;
                        };
                    };
                };
            };
            /** @description INVALID_REQUEST */
            readonly 400: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly RateLimit: components["headers"]["Maybe-RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["Maybe-RateLimit-Policy"];
                    readonly "Set-Cookie": components["headers"]["Maybe-Set-Cookie"];
                    readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["InvalidRequestProblem"];
                };
            };
            /** @description UNAUTHORIZED */
            readonly 401: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["UnauthorizedProblem"];
                };
            };
            /** @description INTERNAL_ERROR */
            readonly 500: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly RateLimit: components["headers"]["Maybe-RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["Maybe-RateLimit-Policy"];
                    readonly "Set-Cookie": components["headers"]["Maybe-Set-Cookie"];
                    readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["InternalErrorProblem"];
                };
            };
            /** @description INTERNAL_ERROR */
            readonly 503: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly RateLimit: components["headers"]["Maybe-RateLimit"];
                    readonly "RateLimit-Policy": components["headers"]["Maybe-RateLimit-Policy"];
                    readonly "Retry-After": components["headers"]["Retry-After"];
                    readonly "Set-Cookie": components["headers"]["Maybe-Set-Cookie"];
                    readonly "X-Request-Id": components["headers"]["X-Request-Id"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["InternalErrorProblem"];
                };
            };
        };
    };
    readonly endSessions: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/x-www-form-urlencoded": {
                    readonly logout_token: string;
                };
            };
        };
        readonly responses: {
            /** @description The sessions are ended everywhere. */
            readonly 200: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The logout token is refused. */
            readonly 400: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly "X-Request-Id": components["headers"]["Maybe-X-Request-Id"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly error: "invalid_request";
                        readonly error_description: string;
                    };
                    readonly "application/problem+json": components["schemas"]["InvalidRequestProblem"];
                };
            };
            readonly 404: components["responses"]["problem.404.NOT_FOUND"];
            /** @description The logout token is refused. */
            readonly 413: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly "X-Request-Id": components["headers"]["Maybe-X-Request-Id"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly error: "invalid_request";
                        readonly error_description: string;
                    };
                };
            };
            /** @description The logout token is refused. */
            readonly 415: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly "X-Request-Id": components["headers"]["Maybe-X-Request-Id"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly error: "invalid_request";
                        readonly error_description: string;
                    };
                };
            };
            readonly 429: components["responses"]["problem.429.RATE_LIMITED"];
            readonly 500: components["responses"]["problem.500.INTERNAL_ERROR"];
            readonly 503: components["responses"]["problem.503.INTERNAL_ERROR"];
        };
    };
    readonly "on-data.updated": {
        readonly parameters: {
            readonly query?: never;
            readonly header: {
                /** @description Of the event: the same at every attempt. */
                readonly "webhook-id": string;
                /** @description `v1,` and the signature in Base64, for each valid secret, separated by blanks. */
                readonly "webhook-signature": string;
                /** @description Of the attempt, in seconds since 1970. */
                readonly "webhook-timestamp": string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["DataUpdatedEvent"];
            };
        };
        readonly responses: {
            /** @description The app has stored the event. */
            readonly "2XX": {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Nothing more is sent until the endpoint is set again. */
            readonly 410: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is sent again later. */
            readonly default: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    readonly "on-grant.expired": {
        readonly parameters: {
            readonly query?: never;
            readonly header: {
                /** @description Of the event: the same at every attempt. */
                readonly "webhook-id": string;
                /** @description `v1,` and the signature in Base64, for each valid secret, separated by blanks. */
                readonly "webhook-signature": string;
                /** @description Of the attempt, in seconds since 1970. */
                readonly "webhook-timestamp": string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["GrantExpiredEvent"];
            };
        };
        readonly responses: {
            /** @description The app has stored the event. */
            readonly "2XX": {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Nothing more is sent until the endpoint is set again. */
            readonly 410: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is sent again later. */
            readonly default: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    readonly "on-grant.narrowed": {
        readonly parameters: {
            readonly query?: never;
            readonly header: {
                /** @description Of the event: the same at every attempt. */
                readonly "webhook-id": string;
                /** @description `v1,` and the signature in Base64, for each valid secret, separated by blanks. */
                readonly "webhook-signature": string;
                /** @description Of the attempt, in seconds since 1970. */
                readonly "webhook-timestamp": string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["GrantNarrowedEvent"];
            };
        };
        readonly responses: {
            /** @description The app has stored the event. */
            readonly "2XX": {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Nothing more is sent until the endpoint is set again. */
            readonly 410: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is sent again later. */
            readonly default: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    readonly "on-grant.revoked": {
        readonly parameters: {
            readonly query?: never;
            readonly header: {
                /** @description Of the event: the same at every attempt. */
                readonly "webhook-id": string;
                /** @description `v1,` and the signature in Base64, for each valid secret, separated by blanks. */
                readonly "webhook-signature": string;
                /** @description Of the attempt, in seconds since 1970. */
                readonly "webhook-timestamp": string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["GrantRevokedEvent"];
            };
        };
        readonly responses: {
            /** @description The app has stored the event. */
            readonly "2XX": {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Nothing more is sent until the endpoint is set again. */
            readonly 410: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is sent again later. */
            readonly default: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    readonly "on-test": {
        readonly parameters: {
            readonly query?: never;
            readonly header: {
                /** @description Of the event: the same at every attempt. */
                readonly "webhook-id": string;
                /** @description `v1,` and the signature in Base64, for each valid secret, separated by blanks. */
                readonly "webhook-signature": string;
                /** @description Of the attempt, in seconds since 1970. */
                readonly "webhook-timestamp": string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["TestEvent"];
            };
        };
        readonly responses: {
            /** @description The app has stored the event. */
            readonly "2XX": {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Nothing more is sent until the endpoint is set again. */
            readonly 410: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is sent again later. */
            readonly default: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
}
