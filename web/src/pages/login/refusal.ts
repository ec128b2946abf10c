/** Messages for the codes in the login page's `error` parameter: why the server rejected a single sign-on login. */
const refusals: Record<string, string> = {
  login_failed:
    'The login could not be verified. Try again; if it fails again, ask your administrator to look at the server’s log.',
  login_expired:
    'The login took too long, or it began in another browser or at another address of this server. Log in again.',
  login_denied: 'The login was denied. Ask your administrator for access.',
  no_role: 'You are logged in at your organization, but you have no role here. Ask your administrator for access.',
  oidc_unavailable: 'The login service cannot be reached. Try again later, or log in with an API key.',
  too_many_requests: 'Too many attempts to log in. Try again in a minute.',
};

/** Returns the message for a code. An address can contain any code, so the page never shows its text. */
export function explainRefusal(code: string | undefined): { code: string; message: string } | undefined {
  if (code === undefined || code === '') return undefined;
  const message = Object.hasOwn(refusals, code) ? refusals[code] : undefined;
  if (message === undefined) return { code: 'login_failed', message: refusals.login_failed ?? '' };
  return { code, message };
}

/** The longest path that the server redirects to. */
const maxReturnTo = 2000;

/**
 * Returns where the single sign-on login starts. Paths that the server would reject are omitted; it then redirects to
 * the start page.
 */
export function loginAddress(url: string, next: string | undefined): string {
  // Browsers do not escape backslashes in query strings.
  const path = next?.replaceAll('\\', '%5C').replaceAll(' ', '%20');
  if (path === undefined || path.length > maxReturnTo) return url;
  return `${url}?return_to=${encodeURIComponent(path)}`;
}
