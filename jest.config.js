/** @type {import('jest').Config} */
export default {
  testMatch: ['<rootDir>/{services,packages,verification}/**/test/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', '/\\.data/'],
  modulePathIgnorePatterns: ['<rootDir>/\\.data/'],
  testEnvironment: '<rootDir>/verification/test-kit/bin/plain-environment.mjs',
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': ['@swc/jest', { jsc: { parser: { syntax: 'typescript' }, target: 'esnext' } }],
  },
  // Functions come from '@jest/globals', by import.
  injectGlobals: false,
  // Databases start in here on a busy machine; a test that waits this long has failed anyway.
  testTimeout: 60_000,
  maxWorkers: 2,
  testSequencer: '<rootDir>/verification/test-kit/bin/quick-first.mjs',
  globalSetup: '<rootDir>/verification/running-system/bin/start-servers.mjs',
  globalTeardown: '<rootDir>/verification/running-system/bin/stop-servers.mjs',
  reporters: ['default', '<rootDir>/verification/test-kit/bin/count-reporter.mjs'],
};
