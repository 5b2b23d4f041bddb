/** The HEALTHCHECK of the images: exits with 0 if the service is ready, else with 1. */
const defaultPorts = { gateway: 7100, authorization: 7101, consent: 7102, 'health-data': 7103 };
const { SERVICE, PROBE_PORT } = process.env;

const port = PROBE_PORT || defaultPorts[SERVICE];
const ready = await fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(4_000) }).then(
  (response) => response.ok,
  () => false,
);
process.exit(ready ? 0 : 1);
