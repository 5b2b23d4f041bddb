import {
  configSchema as authorization,
  readEnvironment as readAuthorization,
} from '../../../services/authorization/src/config.ts';
import {
  configSchema as consent,
  readEnvironment as readConsent,
} from '../../../services/consent/src/config.ts';
import {
  configSchema as gateway,
  readEnvironment as readGateway,
} from '../../../services/gateway/src/config.ts';
import {
  configSchema as healthData,
  readEnvironment as readHealthData,
} from '../../../services/health-data/src/config.ts';

/** The services, with the schema of their settings. */
export const SERVICES = [
  { service: 'gateway', schema: gateway, readEnvironment: readGateway },
  { service: 'authorization', schema: authorization, readEnvironment: readAuthorization },
  { service: 'consent', schema: consent, readEnvironment: readConsent },
  { service: 'health-data', schema: healthData, readEnvironment: readHealthData },
] as const;
