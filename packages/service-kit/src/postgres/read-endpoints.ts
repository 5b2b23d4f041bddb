import { ENDPOINTS, type EndpointId } from '@phds/catalog/endpoints';
import { Endpoint } from '@phds/contracts/phds/healthdata/v1/health_data_pb';

/** The proto names endpoints as the catalog does: `health-data` is HEALTH_DATA. */
type MemberOf<Id extends string> = Id extends `${infer Head}-${infer Tail}`
  ? `${Uppercase<Head>}_${MemberOf<Tail>}`
  : Uppercase<Id>;

function memberOf(id: EndpointId): MemberOf<EndpointId> {
  return id.toUpperCase().replaceAll('-', '_') as MemberOf<EndpointId>;
}

// Does not compile, and names the endpoint, if the catalog has one that the proto lacks.
const endpoints: Readonly<Record<MemberOf<EndpointId>, Endpoint>> = Endpoint;

const endpointById = new Map<EndpointId, Endpoint>(ENDPOINTS.map(({ id }) => [id, endpoints[memberOf(id)]]));

const idByEndpoint = new Map([...endpointById].map(([id, endpoint]) => [endpoint, id]));

/** An endpoint of the catalog as requests to health-data name it. */
export function toReadEndpoint(id: EndpointId): Endpoint {
  return endpointById.get(id) ?? Endpoint.UNSPECIFIED;
}

/** The endpoint that a request names; null when it names none that is known. */
export function findEndpointId(endpoint: Endpoint): EndpointId | null {
  return idByEndpoint.get(endpoint) ?? null;
}
