import { eventListener } from '../../shared/endpoints/listener.ts';
import { listen } from '../../shared/serve/listen.ts';
import { handler as deleteQueue } from './delete.ts';
import { handler as getEvents } from './get.ts';

await listen(eventListener, [getEvents, deleteQueue]);
