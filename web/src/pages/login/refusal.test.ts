import { expect, it } from 'vitest';
import { explainRefusal, loginAddress } from './refusal';

it.each(['login_failed', 'login_expired', 'login_denied', 'no_role', 'oidc_unavailable', 'too_many_requests'])(
  '%s has its own message',
  (code) => {
    const refusal = explainRefusal(code);
    expect(refusal?.code).toBe(code);
    expect(refusal?.message.length).toBeGreaterThan(20);
  },
);

it('an unknown code is shown as a failed login', () => {
  expect(explainRefusal('<b>call 555-1234</b>')).toEqual(explainRefusal('login_failed'));
  expect(explainRefusal('toString')).toEqual(explainRefusal('login_failed'));
  expect(explainRefusal(undefined)).toBeUndefined();
  expect(explainRefusal('')).toBeUndefined();
});

it('the login address has the page to return to', () => {
  const begin = (next?: string) => loginAddress('/api/v1/login/oidc', next);
  expect(begin()).toBe('/api/v1/login/oidc');
  expect(begin('/sessions/1?event=2')).toBe('/api/v1/login/oidc?return_to=%2Fsessions%2F1%3Fevent%3D2');
  expect(begin('/?search=a\\b c')).toBe('/api/v1/login/oidc?return_to=%2F%3Fsearch%3Da%255Cb%2520c');
  expect(begin(`/${'a'.repeat(2000)}`)).toBe('/api/v1/login/oidc');
});
