import { toInherited } from '@phds/dev-stack/service-environments';

/** What a command that a test starts takes over from its environment: PATH and the clock, and no setting of the product. */
export const inheritedEnvironment: () => Readonly<Record<string, string>> = toInherited;
