// In a separate module, because a bundle contains all exports of a package that is imported dynamically.
export { encode } from "uqr";
