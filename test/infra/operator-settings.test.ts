import { describe, expect, test } from 'vitest';
import { operatorSettingsOf } from '../../infra/operator-settings.ts';

const given = (context: Readonly<Record<string, unknown>>) =>
  operatorSettingsOf({ tryGetContext: (name: string) => context[name] });

describe('settings by CDK context', () => {
  test('reach functions under the names of their variables', () => {
    expect(given({ pushRelayUrl: 'https://push.example.com', webPublicStreams: false })).toEqual(
      new Map([
        ['API_RATE_LIMIT', '200'],
        ['WEB_PUBLIC_STREAMS_ENABLED', 'false'],
        ['PUSH_RELAY_URL', 'https://push.example.com'],
        ['ZOOM_OAUTH_URL', 'https://zoom.us'],
        ['ZOOM_API_URL', 'https://api.zoom.us'],
        ['WEBEX_OAUTH_URL', 'https://webexapis.com'],
        ['WEBEX_API_URL', 'https://webexapis.com'],
      ]),
    );
  });

  test('have a default, or are absent', () => {
    const settings = given({ pushRelayUrl: '' });
    expect(settings.get('WEB_PUBLIC_STREAMS_ENABLED')).toBe('true');
    expect(settings.has('PUSH_RELAY_URL')).toBe(false);
  });

  test('are refused with half of a single sign-on provider', () => {
    const [oidcIssuer, oidcClientId] = ['https://id.example.com', 'parlance'];
    expect(() => given({ oidcIssuer })).toThrow(
      'The context value oidcIssuer needs oidcClientId, which is not set.',
    );
    expect(() => given({ oidcClientId })).toThrow(
      'The context value oidcClientId needs oidcIssuer, which is not set.',
    );
    expect(given({ oidcIssuer, oidcClientId }).get('OIDC_CLIENT_ID')).toBe('parlance');
  });

  test.each([
    ['pushRelayUrl', 'push.example.com'],
    ['mailDomain', 'channel@example.com'],
    ['mailDomain', 'localhost'],
    ['webPublicStreams', 'perhaps'],
    ['apiRateLimit', '-1'],
    ['apiRateLimit', 'none'],
    ['zoomClientId', 'two words'],
  ])('are refused if %s is "%s"', (name, value) => {
    expect(() => given({ [name]: value })).toThrow(`The context value ${name} cannot be "${value}".`);
  });
});
