import type { Environment } from '../../environment.ts';

/** A provider of video calls as clients know it; they find its number by its name in `/register`. */
interface VideoChatProvider {
  readonly id: number;
  readonly name: string;
}

/** The providers that the operator has set up, by their names on the wire, and that there may be none. */
export const videoChatProviders = ({
  ZOOM_CLIENT_ID,
  WEBEX_CLIENT_ID,
}: Environment): Readonly<Record<string, VideoChatProvider>> => ({
  disabled: { id: 0, name: 'None' },
  ...(ZOOM_CLIENT_ID && { zoom: { id: 3, name: 'Zoom' } }),
  ...(WEBEX_CLIENT_ID && { webex: { id: 8, name: 'Webex' } }),
});
