/* global Scalar */
// Everything comes from this service: no fonts, no telemetry, no proxy and no assistant of Scalar's.
Scalar.createApiReference('#reference', {
  url: '/openapi.json',
  servers: [{ url: location.origin, description: 'This deployment' }],
  theme: 'none',
  generateOperationSlug: ({ operationId, method, path }) => operationId ?? `${method}${path}`,
  generateTagSlug: ({ name }) => name.toLowerCase(),
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: 'never',
  hideClientButton: true,
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
});
