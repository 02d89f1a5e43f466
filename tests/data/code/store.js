'use strict';

const fs = require('fs');

/**
 * Keeps values by key.
 */
export class Store extends Base {
  #items = new Map();

  // Looks one up.
  get(key) {
    return this.#items.get(key);
  }

  static open = async (path) => {
    return new Store(path);
  };
}

export const reduce = (state, action) => {
  switch (action.type) {
    case 'add':
      return [...state, action.item];
    default:
      return state;
  }
};

Store.prototype.size = function () {
  return 0;
};

module.exports = {
  limit: 10,
  close() {
    fs.closeSync(0);
  },
};
