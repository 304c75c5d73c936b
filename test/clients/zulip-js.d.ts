/** The official client has no types of its own; what it answers is what the tests look into. */
declare module 'zulip-js' {
  // biome-ignore lint/suspicious/noExplicitAny: see above
  type Any = any;
  const zulip: (
    config: { readonly zuliprc: string } | { realm: string; username: string; apiKey: string },
  ) => Promise<Any>;
  export default zulip;
}
