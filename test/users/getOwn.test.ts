import { describe, expect, it } from 'vitest';
import { handler } from '../../functions/users/getOwn.ts';
import { newRealm } from '../realm.ts';

describe('GET /users/me', () => {
  it('tells who the caller is', async () => {
    const { call, people } = await newRealm();
    const { status, body } = await call(handler, people.guest);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      result: 'success',
      msg: '',
      user_id: people.guest.userId,
      role: 600,
      is_guest: true,
    });
  });

  it('takes two round trips cold and one warm', async () => {
    const realm = await newRealm();
    const container = realm.container();
    await container.call(handler, realm.people.member);
    expect(container.meter.roundTrips).toBe(2);
    container.meter.reset();
    await container.call(handler, realm.people.member);
    expect(container.meter.roundTrips).toBe(1);
    expect(container.meter.writeUnits).toBe(0);
  });
});
