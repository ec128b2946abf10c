// Two no-op steps on BullMQ: the first job of a note adds the second. Prints how many notes per second went through both.
//   node bullmq.mjs PORT NOTES CONCURRENCY
import { createRequire } from "node:module";
import { join } from "node:path";

const [port, notes, concurrency] = process.argv.slice(2).map(Number);
const { Queue, Worker } = createRequire(join(process.env.BULLMQ_DIR, "package.json"))("bullmq");
const connection = { host: "127.0.0.1", port };

const options = { connection, defaultJobOptions: { removeOnComplete: true, attempts: 5 } };
const extract = new Queue("notes-extract", options);
const organize = new Queue("entities-organize", options);

let done = 0;
let finish;
const finished = new Promise((resolve) => {
  finish = resolve;
});

const workers = [
  new Worker("notes-extract", async (job) => void (await organize.add("organize", job.data)), { connection, concurrency }),
  new Worker(
    "entities-organize",
    async () => {
      done += 1;
      if (done === notes) finish();
    },
    { connection, concurrency },
  ),
];
await Promise.all(workers.map((worker) => worker.waitUntilReady()));

const began = performance.now();
// As many captures at once as the pipeline's benchmark makes.
let next = 0;
await Promise.all(
  Array.from({ length: concurrency }, async () => {
    while (next < notes) await extract.add("extract", { note: next++ });
  }),
);
await finished;
console.log(JSON.stringify({ rate: (notes * 1000) / (performance.now() - began) }));

await Promise.all([...workers, extract, organize].map((part) => part.close()));
