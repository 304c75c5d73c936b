import { describe, expect, it } from 'vitest';
import { botEmail } from '../../shared/domain/account/bot.ts';

describe('the address of a bot', () => {
  it('uses the host if that can be the domain of an email address', () => {
    for (const host of ['chat.example.com', 'localhost', '127.0.0.1', 'x']) {
      expect(botEmail('Rosie', host)).toBe(`Rosie-bot@${host}`);
    }
  });

  it('can be used in credentials, whatever the host', () => {
    for (const host of [
      '',
      '[::1]',
      '::1',
      'a b',
      'a@b',
      'a:b',
      '-x',
      'x.',
      'é.test',
      `${'x'.repeat(300)}.test`,
    ]) {
      expect(botEmail('rosie', host), host).toBe('rosie-bot@parlance.invalid');
    }
  });
});
