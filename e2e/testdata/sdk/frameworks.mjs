// Frameworks that bring their own clients of the APIs, in one process because they take long to load.
import { runLangChain } from './langchain.mjs';
import { runVercel } from './vercel.mjs';

await Promise.all([runVercel(), runLangChain()]);
