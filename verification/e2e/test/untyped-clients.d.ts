// Client libraries without types.
declare module 'passport';
declare module 'passport-oauth2';
declare module 'simple-oauth2';
