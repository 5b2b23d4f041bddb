// Apart from the code that starts the servers: every test file reads these, and the libraries of that code take half a second to load.

/** Set by the test run that started the servers. */
export const ADMIN_URL_VARIABLE = 'PHDS_TEST_ADMIN_URL';
/** `program`, `docker`, `given` or `none`: the source of Redis for createTestRedis. */
export const REDIS_VARIABLE = 'PHDS_TEST_REDIS';

/** Where Redis comes from in this run. */
export type RedisSource = 'given' | 'program' | 'docker' | 'none';
