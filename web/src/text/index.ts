/** The catalogue in use; there is one language so far. */
export { en as text } from "./en";
